"""A git repository in which the program is run, in this process."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from kdoctor.cli.app import app

# One finding: KD101.
OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x)\n"


class Repository:
    """A git repository in which the program is run, in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".git").mkdir()

    def write(self, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self

    def run(self, *arguments, stdin=None):
        return CliRunner().invoke(app, list(map(str, arguments)), input=stdin)

    def scan(self, *arguments, **how):
        """Return the places and codes that a scan names."""
        ended = self.run("scan", *arguments, "--format", "jsonl", "--jobs", 1, **how)
        assert ended.exit_code in (0, 1), ended.stderr
        rows = [json.loads(line) for line in ended.stdout.splitlines()]
        return sorted((row["path"], row["code"]) for row in rows if "code" in row)

    def files(self, *arguments, **how):
        return sorted({path for path, _ in self.scan(*arguments, **how)})

    def settings(self, *arguments):
        """Return each setting with where it comes from."""
        ended = self.run("config", *arguments, "--json")
        assert ended.exit_code == 0, ended.stderr
        return json.loads(ended.stdout)

    def problem(self, *arguments):
        ended = self.run(*arguments)
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr.count("\n") == 1
        return ended.stderr.strip()
