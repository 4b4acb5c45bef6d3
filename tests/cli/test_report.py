"""``kdoctor report`` from end to end: the page as a browser and a reader get it."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess

import pytest
from typer.testing import CliRunner

from kdoctor.cli.app import app
from kdoctor.report.migration.style import DARK, LIGHT
from tests.cli.html_pages import Parsed, assert_readable

TARGET = ("--target", "keras==3.15.1")
BAD = "from keras import backend as K\n\n\ndef f(x):\n    return K.sum(x) + K.get_session()\n"
FILES = {
    "src/a.py": f"from keras.models import Input\n{BAD}",
    "src/b.py": "import a\nimport keras\n",
    "tools/c.py": "import keras\nimport tensorflow as tf\n\nprint(tf.data, keras)\n",
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments, files=FILES, code=0):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        done = CliRunner().invoke(app, ["report", *arguments, "--jobs", "1"])
        assert done.exit_code == code, done.output
        return done

    return run


@pytest.fixture
def page(run, tmp_path):
    def page(*arguments, files=FILES):
        run("--html", "report.html", *TARGET, *arguments, files=files)
        return Parsed.of((tmp_path / "report.html").read_text("utf-8"))

    return page


def git(folder, *arguments):
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    day = {
        "GIT_AUTHOR_DATE": "2021-05-04 12:00:00 +0000",
        "GIT_COMMITTER_DATE": "2021-05-04 12:00:00 +0000",
    }
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, env=os.environ | day)


def test_the_page_has_the_numbers_of_a_scan(page):
    shown = page().text
    done = CliRunner().invoke(app, ["scan", "--format", "json", *TARGET])
    findings = json.loads(done.stdout)["findings"]
    efforts = [(each["fix"] or {}).get("applicability", "by hand") for each in findings]
    assert f"Findings left {len(findings)} " in shown
    for effort in ("safe", "by hand"):
        assert efforts.count(effort) > 0
        assert re.search(rf"{effort} : .*? {efforts.count(effort)} ", shown)
    for code in {each["code"] for each in findings}:
        assert code in shown
    assert "Files done 1 of 3" in shown, (
        "src/b.py has no finding, and imports src/a.py, which stops"
    )
    assert "A fix is available (safe): kdoctor fix src/a.py --select KD102" in shown
    assert "src/a.py:1" in shown
    assert "src/b.py → src/a.py" in shown


def test_the_json_has_the_numbers_of_the_page(run, page):
    told = json.loads(run("--json", *TARGET).stdout)
    shown = page().text
    assert f"Findings left {told['left']['total']} " in shown
    assert f"Files done {told['files']['done']} of {told['files']['concerned']}" in shown
    assert f"Files without TensorFlow imports {told['portability']['percent']} %" in shown
    assert told["breaks_first"][0]["stops"] == [["src/a.py"], ["src/b.py", "src/a.py"]]


@pytest.mark.parametrize(
    ("names", "counted"), [(["a"], "0 of 1 file"), (["a", "b"], "0 of 2 files")]
)
def test_the_terminal_says_how_many_files_are_done(run, names, counted):
    files = {f"{name}.py": "from keras import backend as K\n\nK.sum(1)\n" for name in names}
    told = run("--html", "report.html", *TARGET, files=files).output
    assert f"Done: {counted} with Keras.\n" in told


def test_the_page_needs_nothing_from_elsewhere(page, tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "first").touch()
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    parsed = page("--since", "HEAD")
    assert not {"script", "link", "img", "iframe", "object", "base"} & {
        tag for tag, _ in parsed.elements
    }
    for _, attributes in parsed.elements:
        assert not {"src", "srcset", "style", "onclick", "onload"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"https?:|@import|url\((?!#)", parsed.source)


def test_names_from_outside_are_text_whatever_is_in_them(page, tmp_path):
    evil = "<script>alert('1')&amp;\"\x1b[2J.py"
    files = {
        evil: BAD,
        "a`b.py": BAD,
        "\udcff.py": "from keras.models import Input\n",
        "c\u202ed.py": BAD,
    }
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "</td><script>alert(2)</script>")
    parsed = page("--since", "HEAD", files=files)
    assert "script" not in {tag for tag, _ in parsed.elements}
    assert "<script>alert('1')&amp;\"\\x1b[2J.py" in parsed.text
    assert "</td><script>alert(2)</script>" in parsed.text
    assert "\\udcff.py" in parsed.text
    assert "c\\u202ed.py" in parsed.text
    assert "\x1b" not in parsed.source


def test_the_same_files_give_the_same_bytes(page):
    first = page().source
    assert page().source == first
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", first)


def test_the_time_comes_from_the_commit_or_from_who_builds(page, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "1970-01-02" in page().text
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    text = page().text
    assert "of 2021-05-04" in text
    assert "1970-01-02" not in text


def test_it_can_be_read_without_seeing_it(page, tmp_path):
    git(tmp_path, "init", "-q")
    page()
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    elements = page("--since", "HEAD").elements
    charts = [i for i, (tag, attributes) in enumerate(elements) if attributes.get("role") == "img"]
    assert charts
    assert all([tag for tag, _ in elements[i + 1 : i + 3]] == ["title", "desc"] for i in charts)
    assert_readable(elements)


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_enough_in_both_themes(theme):
    def contrast(one, other):
        high, low = sorted((luminance(theme[one]), luminance(theme[other])), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for ground in ("ground", "panel"):
        for ink in ("ink", "quiet", "link"):
            assert contrast(ink, ground) >= 4.5, (ink, ground)
        for mark in ("safe", "unsafe", "by-hand", "plain"):
            assert contrast(mark, ground) >= 3, (mark, ground)


def test_the_commands_ask_about_the_keras_that_was_asked_about(page):
    assert "kdoctor fix src/a.py --select KD102 --target keras==3.15.1" in page().text
    assert "kdoctor fix . --target keras==3.15.1 shows fixes" in page().text


def test_nothing_left_and_nothing_at_all_are_told_apart(page):
    assert "every file that imports Keras is done" in page(files={"a.py": "import keras\n"}).text
    assert "100 %" in page(files={}).text


def test_without_keras_the_page_says_so(page):
    text = page(files={"a.py": "import os\n"}).text
    assert "no file that was read imports Keras" in text
    assert "Portability" not in text


def test_a_project_that_still_pins_keras_2_is_told_how_to_ask_about_keras_3(run, tmp_path):
    run("--html", "r.html", files=FILES | {"requirements.txt": "keras==2.15.0\n"})
    assert "kdoctor report --target keras==3" in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "say what to write"),
        (("-", "--json"), "needs files or folders"),
        (("--html", "no/such/folder.html"), "there is no folder no/such"),
        (("--html", "."), "--html .: . is a folder; name a file in it"),
        (("--html", ""), "is a folder; name a file in it"),
        (("missing", "--json"), "missing"),
        (("--json", "--target", "keras==99"), "keras"),
        (("--json", "--since", "nothing"), "--since nothing"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_code_2(run, tmp_path, arguments, told):
    git(tmp_path, "init", "-q")
    done = run(*arguments, code=2)
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.html"))


@pytest.mark.skipif(os.name == "nt", reason="mode bits")
def test_the_page_takes_the_place_of_the_one_before_behind_a_link_and_keeps_its_mode(run, tmp_path):
    (tmp_path / "public").mkdir()
    page = tmp_path / "public" / "r.html"
    page.write_text("old")
    page.chmod(0o640)
    (tmp_path / "r.html").symlink_to(page)
    run("--html", "r.html", *TARGET, files=FILES)
    assert (tmp_path / "r.html").is_symlink()
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(page.stat().st_mode) == 0o640


def test_files_that_cannot_be_checked_are_named_on_the_page_and_cost_no_exit_code(run, tmp_path):
    done = run("--html", "r.html", *TARGET, files=FILES | {"x.py": "import keras\ndef (:\n"})
    assert "x.py: not checked" in done.stderr
    assert "Not checked: 1 file" in Parsed.of((tmp_path / "r.html").read_text("utf-8")).text


CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look with")
def test_no_browser_has_to_scroll_sideways_on_a_phone(page, tmp_path):
    long = "a_module_whose_name_is_much_too_long_for_the_screen_of_any_phone_" * 2
    parsed = page(files=FILES | {f"src/{long}.py": f"from keras.models import Input\n{BAD}"})
    # The page itself has no script; this one measures, in a frame as wide as a phone.
    measure = (
        "<script>onload = () => { for (const d of frames[0].document.querySelectorAll('details'))"
        " d.open = true; document.title = frames[0].document.documentElement.scrollWidth; }</script>"
    )
    (tmp_path / "page.html").write_text(parsed.source, encoding="utf-8")
    (tmp_path / "frame.html").write_text(
        f"<!DOCTYPE html>{measure}<iframe src='page.html' width='360' height='640' frameborder=0></iframe>"
    )
    flags = (
        *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update"),
        *("--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}"),
    )
    done = subprocess.run(
        [CHROMIUM, *flags, "--dump-dom", f"file://{tmp_path}/frame.html"],
        capture_output=True,
        check=True,
        timeout=90,
    )
    width = re.search(rb"<title>(\d+)</title>", done.stdout)
    assert width, done.stderr
    assert int(width[1]) <= 360
