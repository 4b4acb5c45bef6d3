"""Settings of the editor."""

from __future__ import annotations

import msgspec

from kdoctor.engine.options import Options


class EditorSettings(msgspec.Struct, rename="kebab"):
    """The options of ``kdoctor scan`` that an editor may set; files say the rest."""

    target: str | None = None
    select: list[str] | None = None
    ignore: list[str] | None = None
    preview: bool | None = None
    exclude: list[str] | None = None
    namespace: str | None = None
    backend: str | list[str] | None = None

    def options(self) -> Options:
        """Return them as options of the engine."""
        options = Options(force_exclude=True)
        if self.target is not None:
            options["target"] = self.target
        if self.select is not None:
            options["select"] = self.select
        if self.ignore is not None:
            options["ignore"] = self.ignore
        if self.preview is not None:
            options["preview"] = self.preview
        if self.exclude is not None:
            options["exclude"] = self.exclude
        if self.namespace is not None:
            options["namespace"] = self.namespace
        if self.backend is not None:
            options["backend"] = self.backend
        return options
