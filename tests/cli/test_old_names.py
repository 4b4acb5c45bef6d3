"""The program says once what became of a rule's old name, and does as before."""

from __future__ import annotations

CODE = "import keras\n\nkeras.optimizers.SGD(learning_rate=1)\n"
NOTE = "kdoctor: rate-is-an-int is called rate-is-no-float now; the old name still works\n"


def test_a_scan_and_a_fix_say_it(project):
    project.write({"old.py": CODE})
    for command in ("scan", "fix"):
        ended = project.kdoctor(command, "old.py", "--select", "rate-is-an-int")
        assert "KD309" in ended.out or "1.0" in ended.out
        assert ended.err.count(NOTE) == 1


def test_the_settings_are_shown_with_it(project):
    project.write({"kdoctor.toml": 'ignore = ["rate-is-an-int"]\n'})
    ended = project.kdoctor("config")
    assert ended.code == 0
    assert ended.err == NOTE


def test_a_baseline_says_it(project):
    project.write({"old.py": CODE})
    project.kdoctor("baseline", "write", "--select", "KD309")
    text = project.read(".kdoctor-baseline.json").decode()
    project.write({".kdoctor-baseline.json": text.replace("KD309", "rate-is-an-int")})
    ended = project.kdoctor("baseline", "check", "--select", "KD309")
    assert ended.code == 0, ended
    assert ended.err.count(NOTE) == 1
    assert "1 known" in ended.out + ended.err or "1 finding is known" in ended.out + ended.err
