"""Documents as they stand in an editor."""

import os

import pytest

from kdoctor.engine import open_documents
from kdoctor.engine.open_documents import Draft, OpenDocuments
from kdoctor.errors import UsageProblem

SOURCE = b"from pkg.compat import K\n\nK.sum(1)\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["keras==3.15.1"]\n')
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "compat.py").write_text("from keras import backend as K\n")
    return tmp_path


def codes(known, project, data=SOURCE):
    reading = known.examine(Draft(str(project / "train.py"), data, "python"))
    return [finding.code for finding in reading.examined.scan.findings]


def test_a_keystroke_reads_no_file_again(project, monkeypatch):
    known = OpenDocuments({})
    assert codes(known, project) == ["KD101"]

    def read(path):
        raise AssertionError(path)

    monkeypatch.setattr(open_documents, "summary_of", read)
    monkeypatch.setattr(open_documents, "FileSelection", read)
    monkeypatch.setattr(open_documents, "Targets", read)
    assert codes(known, project, SOURCE + b"K.mean(1)\n") == ["KD101", "KD101"]


def test_a_module_that_changed_on_the_disk_is_read_again(project):
    known, compat = OpenDocuments({}), project / "pkg" / "compat.py"
    assert codes(known, project) == ["KD101"]
    before = compat.stat()
    compat.write_text("K = None\n")
    os.utime(compat, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert codes(known, project) == []


def test_a_held_module_counts_as_it_stands_and_says_when_others_see_another(project):
    known, path = OpenDocuments({}), str(project / "pkg" / "compat.py")
    assert known.hold(path, "from keras import backend as K\n\n\ndef f(): pass\n")
    assert not known.hold(path, "from keras import backend as K\n\n\ndef f(): return 1\n")
    assert known.hold(path, "K = None\n")
    assert codes(known, project) == []
    assert not known.hold(path, "K = (\n")
    assert codes(known, project) == []
    assert known.let_go(path)
    assert codes(known, project) == ["KD101"]
    assert not known.let_go(path)


def test_what_the_project_says_is_asked_again_when_told_so(project):
    known = OpenDocuments({})
    assert codes(known, project) == ["KD101"]
    (project / "kdoctor.toml").write_text('target = "keras==2.15.0"\n')
    assert codes(known, project) == ["KD101"]
    known.renew()
    assert codes(known, project) == []
    (project / "kdoctor.toml").write_text("targets = 1\n")
    known.renew()
    with pytest.raises(UsageProblem, match="did you mean 'target'"):
        codes(known, project)
