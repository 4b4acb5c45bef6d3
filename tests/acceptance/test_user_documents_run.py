"""The blocks of the user's documents run on Keras 3 after ``kdoctor fix --apply``.

The documents stand beside a checkout (``../shared/seeds``) and are not part of the repository.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

SEEDS = Path(os.environ.get("KDOCTOR_SEEDS", Path(__file__).parents[3] / "shared" / "seeds"))

# Block -> what the document leaves to the reader, what forces a forward pass, and the error that
# the block meets on every Keras because of a mistake of its own (none where it must run through).
FORWARD_PASS = {
    "000_0": ("", "assert c.shape == (2, 2)", None),
    "000_1": ("", "assert model(np.ones((2, 10), 'float32')).shape == (2, 32)", None),
    "000_2": ("", "assert custom_layer(np.ones((2, 3), 'float32')).shape == (2, 64)", None),
    "001_0": ("", "assert model(input_tensor).shape == (1, 64, 64, 2)", None),
    "001_1": ("", "assert model(input_tensor).shape == (1, 64, 64, 2)", None),
    "001_2": ("", "assert model(np.ones((1, 64, 64, 3), 'float32')).shape == (1, 64, 64, 2)", None),
    "002_0": (
        "",
        "model.fit(np.ones((4, 10)), np.ones((4, 1)), verbose=0); assert model.predict(np.ones((4, 10)), verbose=0).shape == (4, 1)",
        None,
    ),
    # The block uses Dense, which the block before it imports.
    "002_1": ("from keras.layers import Dense", "assert y_pred.shape == (100, 1)", None),
    # Sequential.layers never held the Input: `layers[1]` of a one-layer model is the author's slip,
    # and stands after both forward passes.
    "002_2": ("", "", "IndexError: list index out of range"),
    "003_0": ("", "assert model(x).shape == (10, 10)", None),
    "003_1": ("", "assert model(np.ones((2, 784), 'float32')).shape == (2, 10)", None),
    # evaluate() of a model without metrics gives one number on every Keras, and what to do
    # about it is the author's choice: no safe fix.
    "003_2": ("", "", "TypeError: cannot unpack non-iterable float object"),
}

RUNNER = """
import json, sys, traceback
outcomes = {}
for name, source in json.load(sys.stdin).items():
    try:
        exec(compile(source, name, "exec"), {"__name__": "__main__", "np": __import__("numpy")})
        outcomes[name] = None
    except BaseException as error:
        traceback.print_exc()
        outcomes[name] = f"{type(error).__name__}: {error}"
print("OUTCOMES" + json.dumps(outcomes))
"""


def blocks() -> dict[str, str]:
    """The Python fences of the Markdown documents, by document and position."""
    found = {}
    for path in sorted(SEEDS.glob("00[0-3]_*.txt")):
        fences = [t for t in MarkdownIt().parse(path.read_text("utf-8")) if t.type == "fence"]
        found |= {f"{path.name[:3]}_{i}": fence.content for i, fence in enumerate(fences)}
    return found


def offline(source: str) -> str:
    """Make a block small and independent of pretrained weights, which need a download."""
    if "Unet(" not in source:
        return source.replace("256, 256", "64, 64")
    small = source.replace("(256, 256, 3)", "(64, 64, 3), encoder_weights=None", 1)
    # XLA takes half a minute to compile this network.
    quick = small.replace("model.compile(", "model.compile(jit_compile=False, ")
    return quick.replace("'resnet34'", "'resnet18'").replace("256, 256", "64, 64")


def run(sources: dict[str, str]) -> dict[str, str | None]:
    environment = {k: v for k, v in os.environ.items() if k != "SM_FRAMEWORK"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RUNNER)],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    line = next((x for x in done.stdout.splitlines() if x.startswith("OUTCOMES")), None)
    assert line, done.stderr[-4000:]
    return json.loads(line.removeprefix("OUTCOMES"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory, forking, variables, is_run) -> dict[str, str | None]:
    """What came of each block of the drawn documents after the safe fixes, all in one process."""
    if not SEEDS.is_dir():
        pytest.skip(
            f"optional: the user's documents are no part of the repository, and not at {SEEDS}"
        )
    folder = tmp_path_factory.mktemp("documents")
    for name, text in blocks().items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    fixed = forking.kdoctor("fix", "--apply", ".", cwd=folder, env=variables)
    assert fixed.returncode in {0, 1}, fixed.stderr
    programs = {}
    test = test_each_block_runs_through_a_forward_pass_after_the_safe_fixes
    for name in blocks():
        if not is_run(test, name[:3]):
            continue
        first, last, _ = FORWARD_PASS[name]
        text = offline((folder / f"{name}.py").read_text("utf-8"))
        programs[name] = f"{first}\n{text}\n{last}"
    return run(programs)


@pytest.mark.sampled(2)
@pytest.mark.frameworks
@pytest.mark.parametrize("document", ["000", "001", "002", "003"])
def test_each_block_runs_through_a_forward_pass_after_the_safe_fixes(
    outcomes: dict[str, str | None], document: str
) -> None:
    found = {name: ended for name, ended in outcomes.items() if name.startswith(document)}
    wanted = {name: error for name, (_, _, error) in FORWARD_PASS.items() if name[:3] == document}
    assert found == wanted
