"""Which files a path stands for."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kdoctor.documents import discover
from kdoctor.errors import UsageProblem
from kdoctor.project.git import tracked_files


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()


def write(path: str, text: str) -> None:
    touch(path)
    Path(path).write_text(text)


def found(*paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return list(discover(paths, exclude))


@pytest.mark.usefixtures("tree")
def test_a_folder_gives_its_known_files_sorted_by_their_parts() -> None:
    touch("b.py", "a/z.ipynb", "a/c.MD", "a-b/d.rst", "e.markdown", "f.pyw", "g.txt", "h.pyi", "py")

    assert found(".") == ["a/c.MD", "a/z.ipynb", "a-b/d.rst", "b.py", "e.markdown", "f.pyw"]


@pytest.mark.usefixtures("tree")
def test_a_named_file_is_listed_whatever_its_ending() -> None:
    touch("a.txt", "b.pyi", "build/c.py")

    assert found("a.txt", "b.pyi", "build/c.py") == ["a.txt", "b.pyi", "build/c.py"]


def test_paths_are_relative_to_the_working_folder_where_they_lie_in_it(tree: Path) -> None:
    touch("src/a.py", "other/b.py")
    os.chdir("src")

    assert found(str(tree / "src"), "../other") == ["a.py", "../other/b.py"]
    assert found(str(tree / "other")) == [f"{tree.as_posix()}/other/b.py"]
    assert found("./../src/./a.py") == ["a.py"]


@pytest.mark.usefixtures("tree")
def test_each_file_is_listed_once() -> None:
    touch("a/b.py", "c.py")

    assert found("c.py", ".", "a", "a/b.py") == ["c.py", "a/b.py"]


@pytest.mark.usefixtures("tree")
def test_a_path_that_does_not_exist_is_named() -> None:
    with pytest.raises(UsageProblem, match=r"missing\.py: No such file or directory; name a file"):
        found("missing.py")


@pytest.mark.usefixtures("tree")
def test_an_empty_path_is_not_the_working_folder() -> None:
    touch("a.py")
    with pytest.raises(UsageProblem, match=r"^'': No such file or directory; name a file"):
        found("")


@pytest.mark.usefixtures("tree")
def test_environments_caches_and_build_folders_are_passed_over() -> None:
    touch("a.py", ".venv/x.py", "node_modules/x.py", "__pycache__/x.py", "build/x.py", "dist/x.py")
    touch(".tox/x.py", "k.egg-info/x.py", ".ipynb_checkpoints/a.ipynb", "lib/site-packages/x.py")
    touch("my-env/pyvenv.cfg", "my-env/x.py", "conda/conda-meta/h", "conda/x.py", ".git/x.py")

    assert found(".") == ["a.py"]
    assert found("build", "my-env") == ["build/x.py", "my-env/x.py"]  # named: meant


@pytest.mark.usefixtures("tree")
def test_gitignore_files_hold_below_their_folder_and_the_innermost_decides() -> None:
    touch(
        ".git/HEAD", "a.py", "gen/b.py", "src/c.py", "src/gen/d.py", "src/keep/e_pb2.py", "f_pb2.py"
    )
    touch("src/only.py", "only.py", "logs/g.py", "deep/logs/h.py")
    write(".gitignore", "# generated\n*_pb2.py\n/gen/\nlogs/\n\n[bad\n!\na\\\n[z-a]\n")
    write("src/.gitignore", "!e_pb2.py\n/only.py\n")

    assert found(".") == ["a.py", "only.py", "src/c.py", "src/gen/d.py", "src/keep/e_pb2.py"]
    assert found("src") == ["src/c.py", "src/gen/d.py", "src/keep/e_pb2.py"]


@pytest.mark.usefixtures("tree")
def test_a_byte_order_mark_is_no_part_of_a_pattern() -> None:
    touch(".git/HEAD", "a.py", "b.py")
    write(".gitignore", "\ufeffa.py\n")

    assert found(".") == ["b.py"]


@pytest.mark.usefixtures("tree")
def test_a_file_below_an_ignored_folder_cannot_be_taken_back() -> None:
    touch(".git/HEAD", "gen/a.py")
    write(".gitignore", "gen/\n!gen/a.py\n")

    assert found(".") == []


@pytest.mark.usefixtures("tree")
def test_an_ignored_path_that_is_named_is_meant() -> None:
    touch(".git/HEAD", "gen/a.py", "gen/sub/b.py", "gen/sub/c_pb2.py")
    write(".gitignore", "gen/\n")
    write("gen/sub/.gitignore", "*_pb2.py\n")

    assert found("gen/sub") == ["gen/sub/b.py"]
    assert found("gen") == ["gen/a.py", "gen/sub/b.py"]
    assert found("gen/a.py") == ["gen/a.py"]


@pytest.mark.usefixtures("tree")
def test_the_repositorys_own_exclude_file_counts() -> None:
    touch("a.py", "b.py")
    write(".git/info/exclude", "b.py\n")

    assert found(".") == ["a.py"]


@pytest.mark.usefixtures("tree")
def test_git_leaves_out_the_same_files() -> None:
    patterns = (
        "*.py\n!a*.py\n/x/\ny/*\n!y/k/\n**/z/b.py\nfoo[12].md\n\\!c.md\nspace \n#no\n/x/../q\n"
    )
    write(".gitignore", patterns)
    write("y/k/.gitignore", "*\n!*.md\n!.gitignore\n")
    touch("a1.py", "b.py", "x/a.py", "y/a.py", "y/k/a.py", "y/k/a.md", "q/z/b.py", "q/z/a.py")
    touch("foo1.md", "foo3.md", "!c.md", "c.md", "q/x/a.py", "é/a.py", "é/b.py")
    subprocess.run(["git", "init", "-q"], check=True)
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")

    assert found(".") == sorted(
        (path for path in listed if path.endswith((".py", ".md"))), key=lambda path: path.split("/")
    )


@pytest.mark.usefixtures("tree")
def test_excluded_patterns_count_from_the_working_folder_but_not_for_named_files() -> None:
    touch("a.py", "docs/b.py", "src/docs/c.py", "src/d_test.py")

    assert found(".", exclude=("/docs", "*_test.py")) == ["a.py", "src/docs/c.py"]
    assert found("src", "docs/b.py", exclude=("docs",)) == ["src/d_test.py", "docs/b.py"]


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
@pytest.mark.usefixtures("tree")
@pytest.mark.timeout(20)
def test_rings_of_links_pipes_and_broken_links_do_not_hang() -> None:
    touch("a/b.py")
    Path("a/up").symlink_to("..", target_is_directory=True)
    Path("a/self.py").symlink_to("self.py")
    Path("a/broken.py").symlink_to("nowhere.py")
    os.mkfifo("a/pipe.py")

    assert found(".") == ["a/b.py"]
    with pytest.raises(UsageProblem, match="neither a file nor a folder"):
        found("a/pipe.py")


@pytest.mark.usefixtures("tree")
def test_a_link_to_a_listed_file_is_no_second_file_and_one_that_leads_out_is_named() -> None:
    touch("tree/z.py", "outside.py", "elsewhere/x.py")
    Path("tree/a.py").symlink_to("z.py")
    Path("tree/o.py").symlink_to("../outside.py")
    Path("tree/p.py").symlink_to("../outside.py")
    Path("tree/linked").symlink_to("../elsewhere", target_is_directory=True)

    assert discover(["tree"]).files == ("tree/z.py",)
    assert discover(["tree"]).leading_out == ("tree/o.py", "tree/p.py")
    assert found(".") == ["elsewhere/x.py", "outside.py", "tree/z.py"]
    assert found("tree/o.py") == ["tree/o.py"]
    assert found("tree/linked") == ["tree/linked/x.py"]


@pytest.mark.usefixtures("tree")
def test_a_folder_that_cannot_be_listed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    touch("a/b.py", "c.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        listing = discover(["."])

    assert list(listing) == ["c.py"]
    assert [(it.path, it.why) for it in listing.unreadable] == [
        ("a", "the folder cannot be read: Permission denied")
    ]


def git(*arguments: str, stdin: str = "") -> str:
    settings = ["-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false"]
    done = subprocess.run(
        ["git", *settings, *arguments], input=stdin, text=True, capture_output=True, check=False
    )
    return done.stdout


ALLOW_LIST = "*\n!*/\n!*.py\n"


@pytest.mark.usefixtures("tree")
def test_a_list_of_what_is_allowed_leaves_in_what_it_allows() -> None:
    touch("a.py", "b.md", "src/deep/c.py", "src/deep/d.md")
    write(".gitignore", ALLOW_LIST)

    assert found(".") == ["a.py", "src/deep/c.py"]


@pytest.mark.usefixtures("tree")
def test_what_git_tracks_is_never_ignored() -> None:
    touch("gen/kept.py", "gen/new.py", "gen/deep/kept.py", "gen/other/new.py", "kept.md", "new.md")
    git("init", "--quiet")
    git("add", "gen/kept.py", "gen/deep/kept.py", "kept.md")
    write(".gitignore", "gen/\n*.md\n")

    def listed(*paths: str, exclude: tuple[str, ...] = ()) -> tuple[str, ...]:
        return discover(paths, exclude, tracked=tracked_files).files

    assert listed(".") == ("gen/deep/kept.py", "gen/kept.py", "kept.md")
    # Named, the folder is meant, with all that it holds.
    assert listed("gen") == (
        *("gen/deep/kept.py", "gen/kept.py", "gen/new.py", "gen/other/new.py"),
    )
    assert listed(".", exclude=("gen/",)) == ("kept.md",)


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("rules", ["", "build/\n"])
@pytest.mark.parametrize("name", ["build", "dist"])
def test_what_git_tracks_of_a_build_folder_is_source(rules: str, name: str) -> None:
    touch(f"pkg/{name}/inner/model.py", f"pkg/{name}/inner/made.py")
    write(".gitignore", rules)
    assert not discover(["."], tracked=tracked_files).files
    git("init", "--quiet")
    assert not discover(["."], tracked=tracked_files).files
    git("add", "--force", f"pkg/{name}/inner/model.py")

    assert discover(["."], tracked=tracked_files).files == (f"pkg/{name}/inner/model.py",)
    assert not discover(["."], [name], tracked=tracked_files).files


@pytest.mark.usefixtures("tree")
def test_a_repository_within_one_has_files_of_its_own() -> None:
    touch("inner/a.py", "inner/b.py")
    git("init", "--quiet")
    git("-C", "inner", "init", "--quiet")
    git("-C", "inner", "add", "a.py")
    write("inner/.gitignore", "*.py\n")
    assert discover(["."], tracked=tracked_files).files == ("inner/a.py",)


NAMES = st.sampled_from(["a", "b", "ab", "a.py", "b.py", "a.md"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
SEGMENTS = st.sampled_from(
    ["*", "**", "a", "b", "ab", "a*", "*b", "?", "[ab]", "[!a]", "*.py", "a.py", "\\a", "a.*"]
)
PATTERNS = st.builds(
    lambda taken_back, anchored, segments, folder: (
        taken_back + anchored + "/".join(segments) + folder
    ),
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(SEGMENTS, min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)


@pytest.mark.usefixtures("tree")
@given(
    paths=st.sets(PATHS, min_size=4, max_size=14),
    top=st.lists(PATTERNS, min_size=1, max_size=5),
    below=st.lists(PATTERNS, max_size=3),
)
@example({"a/a.py", "b.py"}, ["*/**/"], [])  # below folders that fit, and not these
@example({"a/a/b.py", "a/b.py"}, ["**/a/**"], ["!*/*"])  # a/a lies in a, and is one itself
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_drawn_patterns_leave_out_what_git_leaves_out(paths, top, below) -> None:
    shutil.rmtree("drawn", ignore_errors=True)
    Path("drawn").mkdir()
    git("-C", "drawn", "init", "--quiet")
    write("drawn/.gitignore", "\n".join(top) + "\n")
    for path in sorted(paths, key=len, reverse=True):
        with contextlib.suppress(OSError):  # a name is a file here and a folder there
            touch(f"drawn/{path}")
    if Path("drawn/a").is_dir():
        write("drawn/a/.gitignore", "\n".join(below) + "\n")

    others = git("-C", "drawn", "ls-files", "--others", "--exclude-standard")
    wanted = {f"drawn/{path}" for path in others.splitlines() if path.endswith((".py", ".md"))}
    assert set(found("drawn")) == wanted
