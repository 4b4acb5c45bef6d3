import ast
from pathlib import Path

import numpy as np
from harness import ids, real, trains

HERE = Path(__file__).parent


def _defined(path, *names):
    """Run the imports and the definitions of a program, without its training."""
    tree = ast.parse((HERE / path).read_text())
    kept = [
        each
        for each in tree.body
        if isinstance(each, ast.ClassDef | ast.FunctionDef)
        or (isinstance(each, ast.Import | ast.ImportFrom) and "nltk" not in ast.unparse(each))
    ]
    space = {"__name__": "packt"}
    exec(compile(ast.Module(kept, []), path, "exec"), space)  # noqa: S102 - the program's own
    return [space[name] for name in names]


def test_matrix_factorization_layer():
    (layer,) = _defined("Chapter 7/tf2_matrix_factorization.py", "MatrixFactorizationLayer")
    trains(layer(4), one_hot_pair(), one_hot_pair(), listed=True)


def one_hot_pair():
    return np.eye(5, dtype=np.float32)[ids(5)]


def test_bahdanau():
    (attention,) = _defined("Chapter 8/seq2seq_with_attn.py", "BahdanauAttention")
    trains(attention(4), real(8), real(6, 8))


def test_luong():
    (attention,) = _defined("Chapter 8/seq2seq_with_attn.py", "LuongAttention")
    trains(attention(8), real(8), real(6, 8))


def test_encoder():
    (encoder,) = _defined("Chapter 8/seq2seq_with_attn.py", "Encoder")
    trains(encoder(9, 6, 4, 8), ids(9, 6), real(8))
