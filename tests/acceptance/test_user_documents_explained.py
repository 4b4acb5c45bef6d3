"""The errors of the user's documents, run as they stand on Keras 3, get the right cause and remedy.

The documents stand beside a checkout (``../shared/seeds``) and are not part of the repository.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from kdoctor import explain

ROOT = Path(__file__).parents[2]
SEEDS = Path(os.environ.get("KDOCTOR_SEEDS", ROOT.parent / "shared" / "seeds"))
FORKING = ROOT / "tools" / "raise_errors" / "forking.py"

# Block -> the rule, and what the remedy must have in it. A rule of "" stands for a block whose
# error the block itself prints without its traceback, and of which nobody could tell the cause.
EXPECTED = {
    "000_0": ("KD101", "np.array([[1, 2], [3, 4]], dtype='float32')"),
    "000_1": ("KD202", "`.name`"),
    "000_2": ("", ""),
    "001_0": ("KD701", "SM_FRAMEWORK=tf.keras"),
    "001_1": ("KD701", "SM_FRAMEWORK=tf.keras"),
    "001_2": ("KD701", "SM_FRAMEWORK=tf.keras"),
    "002_0": ("KD101", "ops.relu"),
    "002_1": ("KD102", "from keras import Input"),
    "002_2": ("KD101", "ops.dot(x, self.W)"),
    "003_2": ("KD502", 'metrics=["accuracy"]'),
}
# The error of this one comes with the first forward pass, which the document leaves out.
FORWARD_PASS = {"002_0": "\nimport numpy as np\nmodel.predict(np.ones((4, 10)), verbose=0)\n"}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    if not SEEDS.is_dir():
        pytest.skip(
            f"optional: the user's documents are no part of the repository, and not at {SEEDS}"
        )
    folder = tmp_path_factory.mktemp("documents")
    for path in sorted(SEEDS.glob("00[0-3]_*.txt")):
        fences = [t for t in MarkdownIt().parse(path.read_text("utf-8")) if t.type == "fence"]
        for number, fence in enumerate(fences):
            name = f"{path.name[:3]}_{number}"
            if name in EXPECTED:
                (folder / name).mkdir()
                source = fence.content + FORWARD_PASS.get(name, "")
                (folder / name / "train.py").write_text(source, "utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "SM_FRAMEWORK"}
    subprocess.run(
        [sys.executable, FORKING, *sorted(folder.iterdir())],
        env=environment | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        check=True,
    )
    return {each.name: (each / "printed").read_text("utf-8") for each in folder.iterdir()}


@pytest.mark.frameworks
@pytest.mark.parametrize("block", EXPECTED)
def test_the_error_of_a_block_is_explained(printed, block):
    rule, remedy = EXPECTED[block]
    found = explain(printed[block], target="keras==3.15.1")
    assert found.rule == rule, printed[block]
    assert remedy in "\n".join(step.text for step in found.steps)
    assert found.is_known == bool(rule)
