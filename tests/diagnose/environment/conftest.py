"""Environments of a few empty files: what is looked at is metadata, names and sizes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kdoctor.diagnose.environment import CheckState, examine
from tests.forking import Forking

# What the releases themselves ask for, of what is looked at here.
TENSORFLOW_2_21 = (
    "keras>=3.12.0",
    "numpy>=1.26.0",
    "protobuf<8.0.0,>=6.31.1",
    "h5py<3.15.0,>=3.11.0",
)
TENSORFLOW_2_10 = ("keras<2.11,>=2.10.0", "numpy>=1.20", "protobuf<3.20,>=3.9.2", "h5py>=2.9.0")


@dataclass
class Room:
    """A virtual environment without pip, a working folder, and the variables of a shell."""

    prefix: Path
    work: Path
    forking: Forking
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def python(self):
        return self.prefix / "bin" / "python"

    @property
    def site(self):
        return next(self.prefix.glob("lib/python*/site-packages"))

    def install(self, name, version, *requires, files=(), site=None, record=True):
        """Write the metadata and the files of a distribution."""
        site = site or self.site
        site.mkdir(parents=True, exist_ok=True)
        folder = name.replace("-", "_")
        files = [*(files or [f"{folder}/__init__.py"])]
        for file in files:
            path = site / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {name} {version}\n")
        metadata = site / f"{folder}-{version}.dist-info"
        metadata.mkdir(exist_ok=True)
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {each}" for each in requires]
        (metadata / "METADATA").write_text("\n".join(lines) + "\n\nRequires-Dist: not-this-one\n")
        if record:
            rows = [f"{file},sha256=x,{(site / file).stat().st_size}" for file in files]
            rows.append(f"{metadata.name}/RECORD,,")
            (metadata / "RECORD").write_text("\n".join(rows) + "\n")
        return self

    def uninstall(self, name):
        for metadata in self.site.glob(f"{name.replace('-', '_')}-*.dist-info"):
            shutil.rmtree(metadata)
        shutil.rmtree(self.site / name.replace("-", "_"), ignore_errors=True)
        return self

    def write(self, name, text=""):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self

    def set(self, **variables):
        self.variables |= variables
        return self

    def examine(self, **how):
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.work / "home"), **self.variables}
        return examine(str(self.python), self.work, environ, **how)

    def checks(self, subject):
        return [check for check in self.examine().checks if check.subject == subject]

    def check(self, subject):
        """Return the one check of a subject, the worst first."""
        order = [CheckState.BROKEN, CheckState.WARNING, CheckState.OK]
        found = sorted(self.checks(subject), key=lambda check: order.index(check.state))
        assert found, [check.subject for check in self.examine().checks]
        return found[0]

    def state(self, subject):
        return self.check(subject).state.value

    def cure(self, subject):
        """Carry out the remedy of a subject, as a shell does, variables included."""
        command = self.check(subject).remedy.command
        done = subprocess.run(
            ["sh", "-c", f"{command} && env -0"],
            env={"PATH": os.environ["PATH"], **self.variables},
            cwd=self.work,
            capture_output=True,
            text=True,
            check=True,
        )
        pairs = dict(line.split("=", 1) for line in done.stdout.split("\0") if "=" in line)
        own = {key: pairs[key] for key in pairs if key.isupper() and key not in {"PATH", "PWD"}}
        self.variables = own
        return command

    def keras_3(self):
        self.install("tensorflow", "2.21.0", *TENSORFLOW_2_21)
        self.install("keras", "3.15.1", "numpy")
        return self._numbers("2.4.6", "7.36.2", "3.14.0")

    def keras_2_10(self):
        self.install("tensorflow-cpu", "2.10.1", *TENSORFLOW_2_10, files=["tensorflow/__init__.py"])
        files = ["keras/__init__.py", "keras/backend.py", "keras/engine/__init__.py"]
        self.install("keras", "2.10.0", files=files)
        return self._numbers("1.26.4", "3.19.6", "3.11.0")

    def _numbers(self, numpy, protobuf, h5py):
        self.install("numpy", numpy)
        self.install("protobuf", protobuf, files=["google/protobuf/__init__.py"])
        self.install("h5py", h5py)
        return self


@pytest.fixture(scope="session")
def empty_environment(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("environments") / "empty"
    venv.create(prefix, symlinks=True, with_pip=False)
    return prefix


@pytest.fixture
def room(empty_environment, tmp_path, forking):
    if os.name == "nt":
        pytest.skip("rooms are laid out as on POSIX, and cured by its shell")
    prefix, work = tmp_path / "environment", tmp_path / "work"
    shutil.copytree(empty_environment, prefix, symlinks=True)
    work.mkdir()
    made = Room(prefix, work, forking)
    assert Path(sys.executable).exists()
    return made.install("pip", "24.0")
