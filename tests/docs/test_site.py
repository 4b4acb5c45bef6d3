"""The site: it builds, no link in it is broken, and what is made is made of the real rules."""

import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import kdoctor.rule
from kdoctor import engine
from kdoctor.rules import all_rules, loading, registry
from kdoctor.rules.index import entry_of
from kdoctor.verify.pool import run_all
from kdoctor.verify.proof_jobs import example_jobs
from tools.site.pages import all_pages

ROOT = Path(__file__).resolve().parents[2]
NEW_RULE = (ROOT / "docs" / "new-rule.md").read_text("utf-8")


@pytest.fixture(scope="module")
def pages():
    return all_pages()


@pytest.fixture(scope="module", params=["epochs_in_a_string", "trainable_in_a_string"])
def new_rule(request, tmp_path_factory):
    """A rule that the page shows, as if its files lay where the page says."""
    room = tmp_path_factory.mktemp("rules")
    shown = re.findall(
        r'^(`{3,})\w+ title="([^"]+)"\n(.*?)^\1$', NEW_RULE, re.DOTALL | re.MULTILINE
    )
    for _, title, text in shown:
        (room / Path(title).name).write_text(text, "utf-8")
    (title,) = (each for _, each, _ in shown if each.endswith(f"/{request.param}.py"))
    module = types.ModuleType(title.removesuffix(".py").replace("/", "."))
    module.__file__ = str(room / f"{request.param}.py")
    sys.modules[module.__name__] = module
    exec(compile(Path(module.__file__).read_text("utf-8"), title, "exec"), module.__dict__)  # noqa: S102 - our own page
    return loading._rule_of(module)


def test_it_builds_and_every_link_leads_somewhere(tmp_path):
    # Strict: a link to a page or an anchor that is not there is an error.
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path / "site"],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=False,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")
    built = list((tmp_path / "site").rglob("*.html"))
    assert len(built) > len(all_rules())
    fetched = re.compile(r'(?:\bsrc=|<link\b[^>]*\bhref=)["\']?(https?:)?//')
    assert [path.name for path in built if fetched.search(path.read_text("utf-8"))] == []


def test_each_rule_has_a_page_with_its_documentation_and_its_examples(pages):
    for rule in all_rules():
        page = pages[f"rules/{rule.code}.md"]
        assert page.startswith(f"# {rule.code} {rule.name}\n")
        assert rule.docs.rstrip() in page
        assert all(example.before.rstrip() in page for example in rule.invalid)
        assert f"]({rule.code}.md)" in pages["rules/index.md"]


def test_each_command_has_a_page_with_what_its_help_says(pages):
    for name in ("scan", "fix", "baseline-prune", "verify"):
        command = ["-m", "kdoctor", *name.split("-"), "--help"]
        help_text = subprocess.run(
            [sys.executable, *command],
            env=os.environ | {"COLUMNS": "100", "TERMINAL_WIDTH": "100"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        options = re.findall(r"--[a-z][\w-]+", help_text)
        page = pages[f"commands/{name}.md"]
        assert options
        assert [option for option in options if option not in page] == []


def test_a_rule_that_the_page_shows_is_whole(new_rule, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "all_rules", lambda: (new_rule,))
    monkeypatch.setattr("kdoctor.engine.examine.rule_index", lambda: (entry_of(new_rule),))
    file = tmp_path / "train.py"

    assert new_rule.valid
    assert new_rule.invalid
    for code in new_rule.valid:
        file.write_text(code)
        assert engine.scan([file], target="keras==3.15.1").findings == ()
    for example in new_rule.invalid:
        file.write_text(example.before)
        assert [each.code for each in engine.scan([file], target="keras==3.15.1").findings] == [
            new_rule.code
        ]
        engine.fix([file], apply=True, unsafe=True, target="keras==3.15.1")
        assert file.read_text() == (example.after or example.before)


@pytest.mark.frameworks
def test_a_rule_that_the_page_shows_is_right(new_rule):
    outcomes = list(run_all(example_jobs([new_rule]), 1))

    assert len(outcomes) == len(new_rule.invalid)
    assert [each.failures for each in outcomes if not each.holds] == []


def test_the_rules_that_the_page_shows_pass_the_type_checker(tmp_path):
    for title, text in re.findall(
        r'^```python title="([^"]+)"\n(.*?)^```$', NEW_RULE, re.DOTALL | re.MULTILINE
    ):
        file = tmp_path / Path(title).name
        file.write_text(text, "utf-8")
        checker = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
        done = subprocess.run(
            [*checker, file], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_the_first_rule_that_the_page_shows_is_short():
    first, page, *_ = re.findall(
        r'^(`{3,})\w+ title="[^"]+"\n(.*?)^\1$', NEW_RULE, re.DOTALL | re.MULTILINE
    )
    assert len((first[1] + page[1]).splitlines()) <= 60


def test_every_piece_of_configuration_on_the_pages_is_valid(tmp_path):
    shown = [
        block
        for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
        for block in re.findall(r"```toml\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
        if "[tool.kdoctor]" in block
    ]

    assert shown
    for number, block in enumerate(shown):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "pyproject.toml").write_text(block)
        engine.scan([folder])


def test_the_page_on_rules_of_ones_own_names_all_that_they_are_made_of():
    page = (ROOT / "docs" / "own-rules.md").read_text("utf-8")
    missing = {name for name in kdoctor.rule.__all__ if f"`{name}`" not in page}
    assert not missing
