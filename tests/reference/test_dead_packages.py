"""What stands for names of dead packages can be read and copied by itself."""

import ast
import builtins
import re
import subprocess
import sys

import pytest

from kdoctor.rules.dead_packages import stand_ins, stand_ins_for

ALL = [each for several in stand_ins().values() for each in several]


@pytest.mark.parametrize("stand_in", ALL, ids=lambda each: each.name)
def test_a_text_has_all_that_it_uses(stand_in):
    tree = ast.parse(stand_in.text)
    bound = {
        name
        for node in ast.walk(tree)
        for name in (
            [getattr(node, "name", None)]
            + [alias.asname or alias.name for alias in getattr(node, "names", []) if alias]
            if isinstance(node, ast.Import | ast.ImportFrom)
            else [getattr(node, "name", None) or getattr(node, "arg", None)]
        )
    }
    bound |= {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert read - bound - {*dir(builtins), "__class__"} == set()


def test_a_name_is_found_by_its_last_part_and_by_the_usual_short_name_of_its_package():
    (found,) = stand_ins_for("lamb")
    assert found.name == "tensorflow_addons.optimizers.LAMB"
    assert stand_ins_for("tfa.optimizers.LAMB") == (found,)
    assert stand_ins_for("nothing") == stand_ins_for("tfa.layers.LAMB") == ()
    assert len({each.name.partition(".")[0] for each in stand_ins_for("CRF")}) == 2


def reference(*arguments):
    command = [sys.executable, "-m", "kdoctor", "reference", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_lists_and_prints_them_and_says_which_are_several():
    listed = reference("keras_contrib").stdout.splitlines()
    assert len(listed) == len(stand_ins()["keras_contrib"])
    assert re.search(
        r"^tensorflow_addons: what stands for \d{3} of its", reference().stdout, re.MULTILINE
    )
    assert "\nclass LAMB(" in reference("tfa.optimizers.LAMB").stdout
    several = reference("CRF")
    assert several.returncode == 2
    assert "keras_contrib.layers.CRF" in several.stderr
