"""Run programs of real repositories before and after the fixes, and compare their numbers.

    python -m benchmarks.neighbours /work/.mirror [NAME…]

The first argument is a folder of git repositories, ``owner+name/repo``. Before the fix a program
runs on Keras 2, in the environment that ``make addons-oracle`` or ``make old-oracle`` builds, after
``kdoctor fix --apply --unsafe`` on this one. Their data are drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kdoctor.engine import fix

_HERE = Path(__file__).parent
_CACHE = Path.home() / ".cache/kdoctor"
_ADDONS = _CACHE / "addons-oracle/bin/python"
_OLD = _CACHE / "old-oracle/2.2.4/bin/python"
_RELATIVE, _ABSOLUTE = 1e-3, 1e-4


class Program(NamedTuple):
    """What is run, and what of it: files as they are in the repository, at its newest commit."""

    driver: str
    repository: str
    files: str
    uses: str
    before: Path = _ADDONS
    others: tuple[str, ...] = ()
    smaller: tuple[tuple[str, str], ...] = ()


_CONTRIB = ("keras_contrib",)
_NOTEBOOK = "16_nlp_with_rnns_and_attention.ipynb"
_DATES = (
    ("create_dataset(10000)", "create_dataset(128)"),
    ("create_dataset(2000)", "create_dataset(32)"),
    ("epochs=15", "epochs=2"), ("n_epochs = 20", "n_epochs = 12"), ("epochs=25", "epochs=2"),
)  # fmt: skip
_PLAIN = ("data_augmentation = True", "data_augmentation = False")
PROGRAMS = (
    Program("dates", "ageron/handson-ml2", _NOTEBOOK,
            "tfa.seq2seq: TrainingSampler, BasicDecoder", smaller=_DATES),
    Program("dates_sampled", "ageron/handson-ml2", _NOTEBOOK,
            "tfa.seq2seq: ScheduledEmbeddingTrainingSampler (random after its first epoch)",
            smaller=_DATES),
    Program("dates_attended", "ageron/handson-ml2", _NOTEBOOK,
            "tfa.seq2seq: LuongAttention, AttentionWrapper, GreedyEmbeddingSampler",
            smaller=_DATES),
    Program("averaged_optimizers", "david8862/keras-YOLOv3-model-set", "common/model_utils.py",
            "tfa.optimizers: MovingAverage, SWA, Lookahead"),
    Program("boxes", "chansoopark98/Tensorflow-Keras-Object-Detection", "model/loss_bak.py",
            "tfa.losses.giou_loss"),
    Program("augmented", "chansoopark98/Tensorflow-Keras-Semantic-Segmentation",
            "utils/load_semantic_datasets.py", "tfa.image.rotate"),
    Program("cyclic_rate", "keras-team/keras-contrib", "examples/cifar10_clr.py",
            "keras_contrib: CyclicLR", _OLD, _CONTRIB,
            (_PLAIN, ("epochs = 50", "epochs = 2"), ("batch_size = 100", "batch_size = 16"),
             ("step_size=2000", "step_size=4"))),
    Program("residuals", "keras-team/keras-contrib", "examples/cifar10_resnet.py",
            "keras_contrib: ResNet18", _OLD, _CONTRIB,
            (_PLAIN, ("nb_epoch = 200", "nb_epoch = 1"), ("batch_size = 32", "batch_size = 16"))),
    Program("tagged", "keras-team/keras-contrib", "examples/conll2000_chunking_crf.py",
            "keras_contrib: CRF, crf_loss, crf_viterbi_accuracy, conll2000", _OLD, _CONTRIB,
            (("EPOCHS = 10", "EPOCHS = 2"), ("EMBED_DIM = 200", "EMBED_DIM = 6"),
             ("BiRNN_UNITS = 200", "BiRNN_UNITS = 6"))),
    Program("saliency", "oarriaga/face_classification", "src/utils/grad_cam.py",
            "K.gradients, K.function", _OLD, ("src/utils",)),
    Program("maximized", "david8862/keras-YOLOv3-model-set",
            "tools/evaluation/convkernel_check.py", "K.gradients, K.function",
            smaller=(("iteration_num = 40", "iteration_num = 5"),)),
)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repositories", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    print("| program | what it uses | Keras 2 | after the fix | numbers |\n|---|---|---|---|---|")
    for each in PROGRAMS:
        if not arguments.names or each.driver in arguments.names:
            with tempfile.TemporaryDirectory() as folder:
                row = " | ".join(outcome(each, arguments.repositories, Path(folder)))
            name = f"{each.repository}, `{each.files}` (`{each.driver}`)"
            print(f"| {name} | {each.uses} | {row} |", flush=True)


def outcome(program: Program, repositories: Path, folder: Path) -> tuple[str, str, str]:
    """Return how it went before and after, and how the numbers compare."""
    before, after = folder / "before", folder / "after"
    for each in (before, after):
        _write(program, repositories, each)
    old = _numbers(program, program.before, before)
    # What stands for a package that is dead must not need it.
    for name in program.others:
        if name in _CONTRIB:
            subprocess.run(["rm", "-r", str(after / name)], check=True)
    fix([after], apply=True, unsafe=True, isolated=True)
    new = _numbers(program, Path(sys.executable), after)
    if isinstance(old, str) or isinstance(new, str):
        told = [each if isinstance(each, str) else "runs" for each in (old, new)]
        return told[0], told[1], "not compared"
    count = sum(np.asarray(each).size for each in old.values())
    apart = [told for name in old if (told := _apart(name, old[name], new[name]))]
    return "runs", "runs", f"other: {', '.join(apart)}" if apart else f"all {count} the same"


def _apart(name: str, old: object, new: object) -> str:
    """Return how far numbers are apart, nothing if they are alike."""
    one, two = np.asarray(old), np.asarray(new)
    if one.shape != two.shape:
        return f"{name} ({one.shape}, {two.shape})"
    if np.allclose(one, two, rtol=_RELATIVE, atol=_ABSOLUTE):
        return ""
    return f"{name} (by {np.abs(one - two).max() / np.abs(one).max():.1%})"


def _write(program: Program, repositories: Path, folder: Path) -> None:
    home = repositories / program.repository.replace("/", "+") / "repo"
    directory = home / ".git" if (home / ".git").is_dir() else home
    folder.mkdir()
    command = ["git", "--git-dir", str(directory), "archive", "HEAD", program.files,
               *program.others]  # fmt: skip
    packed = subprocess.run(command, check=True, capture_output=True)
    subprocess.run(["tar", "x", "-C", str(folder)], input=packed.stdout, check=True)
    file = folder / program.files
    text = file.read_text("utf-8")
    for old, new in program.smaller:
        assert old in text, old
        text = text.replace(old, new)
    file.write_text(text, "utf-8")


def _numbers(program: Program, python: Path, folder: Path) -> dict[str, object] | str:
    """Return what the program gives, or the last line of its error."""
    out = folder.parent / f"{folder.name}.json"
    environment = {**os.environ, "PYTHONPATH": f"{_HERE}:{folder}"}
    done = subprocess.run(
        [str(python), "-W", "ignore", str(_HERE / "drivers.py"), program.driver, str(folder),
         str(out)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if done.returncode:
        if os.environ.get("SHOW"):
            print(done.stderr[-3000:], file=sys.stderr)
        return done.stderr.strip().rpartition("\n")[2][:120]
    found: dict[str, object] = json.loads(out.read_text("utf-8"))
    return found


if __name__ == "__main__":
    main()
