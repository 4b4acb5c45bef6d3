"""The input of the checks: interpreter, packages, variables, working folder."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from packaging.version import Version

from kdoctor.diagnose.environment.health_report import Remedy
from kdoctor.diagnose.environment.installed import Installed, Packages, module_file
from kdoctor.diagnose.environment.probe import Python

# https://github.com/keras-team/keras/blob/master/keras/src/backend/config.py
_KERAS_HOME: Final = "KERAS_HOME"
LEGACY: Final = "TF_USE_LEGACY_KERAS"
LEGACY_ON: Final = ("true", "True", "1")  # tensorflow/python/util/lazy_loader.py; nothing else
MADE_BY_KERAS: Final = Version("2.6")  # the first TensorFlow whose tf.keras is the package keras
# The first TensorFlow that reads TF_USE_LEGACY_KERAS; 2.14 does not (read in the wheels).
LEGACY_SINCE: Final = Version("2.15")
KERAS_3_SINCE: Final = Version("2.16")


@dataclass(frozen=True)
class Environment:
    """The examined environment. ``folder`` is where programs are started."""

    python: Python
    packages: Packages
    variables: Mapping[str, str]
    folder: Path

    @property
    def path(self) -> tuple[Path, ...]:
        """The import path of a program in the working folder."""
        return (self.folder, *self.python.path)

    @property
    def tensorflow(self) -> Installed | None:
        """The TensorFlow that is installed."""
        return self.packages.tensorflow

    @property
    def keras(self) -> Installed | None:
        """The package keras that is installed."""
        return self.packages.keras

    @property
    def tf_keras(self) -> Installed | None:
        """The package tf_keras that is installed."""
        return self.packages.tf_keras

    @property
    def has_keras_3(self) -> bool:
        """Whether ``import keras`` gives Keras 3."""
        return self.keras is not None and self.keras.version.major >= 3

    @property
    def wants_tf_keras(self) -> bool:
        """Whether TensorFlow reads ``TF_USE_LEGACY_KERAS`` and finds it switched on."""
        tensorflow = self.tensorflow
        return (
            tensorflow is not None
            and release(tensorflow.version) >= LEGACY_SINCE
            and self.variables.get(LEGACY) in LEGACY_ON
        )

    @cached_property
    def config_file(self) -> Path:
        """Where Keras keeps its settings."""
        home = self.variables.get(_KERAS_HOME)
        return Path(home or Path(self.variables.get("HOME") or Path.home()) / ".keras") / (
            "keras.json"
        )

    @cached_property
    def config(self) -> dict[str, Any] | str:
        """The settings in that file; an error message if it cannot be read, {} without a file."""
        try:
            settings = json.loads(self.config_file.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            return error.strerror or str(error)
        except ValueError as error:
            return f"no JSON: {error}"
        return settings if isinstance(settings, dict) else "no JSON object"

    def module(self, name: str) -> Path | None:
        """Return the file that ``import name`` loads in the working folder."""
        return module_file(name, self.path)

    def install(self, *requirements: str, options: Iterable[str] = ()) -> Remedy:
        """Return the command that installs packages into this environment."""
        return Remedy(shlex.join([*self._pip, "install", *options, *requirements]))

    def uninstall(self, *names: str) -> Remedy:
        """Return the command that removes packages from it."""
        yes = () if self._pip[0] == "uv" else ("--yes",)
        return Remedy(shlex.join([*self._pip, "uninstall", *yes, *names]))

    def remove(self, *paths: Path) -> Remedy:
        """Return the command that removes files and folders."""
        if os.name == "nt":
            listed = ", ".join(f"'{path}'" for path in paths)
            return Remedy(f"Remove-Item -Recurse -Force {listed}")
        return Remedy(shlex.join(["rm", "-r", *map(str, paths)]))

    def set(self, name: str, value: str, note: str = "") -> Remedy:
        """Return the command that sets a variable for the programs started from this shell."""
        if os.name == "nt":
            return Remedy(f"$env:{name} = '{value}'", note)
        return Remedy(f"export {name}={shlex.quote(value)}", note)

    def unset(self, name: str, note: str = "") -> Remedy:
        """Return the command that unsets a variable for them."""
        if os.name == "nt":
            return Remedy(f"Remove-Item Env:{name}", note)
        return Remedy(f"unset {name}", note)

    @property
    def _pip(self) -> tuple[str, ...]:
        program = self.python.interpreter.path
        if module_file("pip", self.python.path) is not None:
            return (program, "-m", "pip")
        if (self.python.prefix / "pyvenv.cfg").is_file() and _made_by_uv(self.python.prefix):
            # uv names the Python after the verb; its own variable is the same for all verbs.
            return ("env", f"UV_PYTHON={program}", "uv", "pip")
        return (program, "-m", "ensurepip", "&&", program, "-m", "pip")


def release(version: Version) -> Version:
    """Return a version without its rc, dev and local parts: a nightly 2.22.0.dev1 is a 2.22.0.

    >>> release(Version("2.16.0rc1"))
    <Version('2.16.0')>
    """
    return Version(version.base_version)


def minor(version: Version) -> str:
    """Return major and minor number.

    >>> minor(Version("2.15.1"))
    '2.15'
    """
    return f"{version.major}.{version.minor}"


def _made_by_uv(prefix: Path) -> bool:
    try:
        return "\nuv = " in (prefix / "pyvenv.cfg").read_text("utf-8")
    except OSError:
        return False
