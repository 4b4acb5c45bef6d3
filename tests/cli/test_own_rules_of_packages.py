"""Rules of installed packages: entry points of the group ``kdoctor.rules``."""

from __future__ import annotations

import pytest

from tests.cli.own_rules import RULE, TRAIN, rule_text

NAME = RULE.rpartition("/")[2]
CONCISE = ("scan", "train.py", "--format", "concise")


def installed(project, module, files, *, at="env/site-packages", distribution="acme-1.2"):
    """Install a package into a folder of packages; return the variables that put it on the path."""
    entry = f"[console_scripts]\nacme = acme:main\n\n[kdoctor.rules]\nacme = {module}\n"
    project.write(
        {
            "train.py": TRAIN,
            f"{at}/{distribution}.dist-info/entry_points.txt": entry,
            **{f"{at}/{name}": text for name, text in files.items()},
        }
    )
    return {"PYTHONPATH": str(project.folder / at)}


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("acme_rules", {f"acme_rules/{NAME}": rule_text(), "acme_rules/__init__.py": ""}),
        # The package around them is not imported: it may take seconds, or not work here.
        ("acme.rules", {f"acme/rules/{NAME}": rule_text(), "acme/__init__.py": "raise OSError\n"}),
        ("acme.rules.units", {"acme/rules/units.py": rule_text(), "acme/rules/other.py": "x = (\n"}),
        ("acme_rule", {"acme_rule.py": rule_text(), "other.py": "x = (\n"}),
    ],
)  # fmt: skip
def test_they_are_loaded_as_they_are(project, module, files):
    env = installed(project, module, files)

    ended = project.started(*CONCISE, env=env)

    assert (ended.code, ended.err.strip()) == (1, "")
    assert "ACME001" in ended.out
    assert "ACME001" in project.started("rules", env=env).out
    assert "ACME001" not in project.started(*CONCISE).out


def test_links_are_no_fault_in_an_installation(project):
    # As `uv pip install --link-mode symlink` installs.
    env = installed(project, "acme_rules", {})
    project.write({"store/rule.py": rule_text()})
    (project.folder / "env/site-packages/acme_rules").mkdir()
    (project.folder / f"env/site-packages/acme_rules/{NAME}").symlink_to(
        project.folder / "store/rule.py"
    )
    assert "ACME001" in project.started(*CONCISE, env=env).out


@pytest.mark.parametrize("module", ["nowhere", "nowhere.rules", "acme.nowhere"])
def test_one_that_names_nothing_is_told_and_the_rest_goes_on(project, module):
    env = installed(project, module, {"acme/__init__.py": ""})

    ended = project.started("scan", "train.py", env=env)

    assert ended.code == 2
    assert ended.err == (
        f"kdoctor: the entry point acme = {module} of acme 1.2: there is no such package with "
        "files of rules; update the one that names it\n"
    )
    assert "Nothing to report." in ended.out


@pytest.mark.parametrize("at", [".", "site-packages"])
def test_a_checkout_does_not_pass_for_an_installation(project, at):
    spy = "open('it-ran', 'w')\n"
    installed(project, "acme_rules", {"acme_rules/spy.py": spy}, at=at)
    folder = project.folder / at
    # `python -m` puts the working folder on the path.
    ended = project.shell(f"cd {at} && kdoctor scan {project.folder}/train.py")

    assert ended.code == 0, ended.err
    assert not (folder / "it-ran").exists()


def test_rules_of_the_project_and_of_a_package_are_asked_together(project):
    env = installed(project, "acme_rules", {f"acme_rules/{NAME}": rule_text()})
    other = rule_text(**{"ACME001": "ACME002", "units-of-dense-block": "another-rule"})
    project.write({"own/rule.py": other, "kdoctor.toml": 'rules = ["own"]\n'})

    ended = project.started(*CONCISE, "--trust-rules", env=env)

    assert ("ACME001" in ended.out, "ACME002" in ended.out) == (True, True)
    ended = project.started(*CONCISE, env=env)
    assert ("ACME001" in ended.out, "ACME002" in ended.out) == (True, False)
