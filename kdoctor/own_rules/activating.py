"""Decide which rules of one's own count in a run, and bring them into use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kdoctor.errors import UsageProblem
from kdoctor.own_rules.entry_points import installed_folders
from kdoctor.project import Layer, Settings
from kdoctor.project.root import root_of
from kdoctor.rules.own import NO_RULES, OwnRules, OwnSources, RuleFolder, in_use, use

FLAG: Final = "--trust-rules"
_CACHE_SIZE: Final = 8
_LOADED: Final[dict[OwnSources, OwnRules]] = {}  # by their files' content: an editor asks often


def use_rules_of(settings: Settings, *, trusted: bool) -> str:
    """Use the rules that a project's settings name, and those of installed packages.

    Returns what is to be said of rules that are not loaded, "" where all are: those of the
    settings are code of the project, and only ``trusted`` lets them run.

    Raises:
        UsageProblem: the settings name no folder of the project.
    """
    layer = settings.layer("rules")
    folders = installed_folders()
    withheld = ""
    if layer is not None and layer.config.rules:
        if trusted:
            from kdoctor.own_rules.folder import named_folders  # noqa: PLC0415 - few projects have

            start = Path(settings.layers[0].folder)
            folders += tuple(named_folders(layer, root_of(start) or start))
        else:
            withheld = _not_loaded(layer)
    use(_rules_of(folders, withheld))
    return withheld


def _not_loaded(layer: Layer) -> str:
    named = ", ".join(layer.config.rules or ())
    return (
        f"{layer.place('rules')}: the rules in {named} were not loaded, for they are code of the "
        f"project: {FLAG} loads them"
    )


def use_rules_in(paths: Sequence[str]) -> None:
    """Use the rules in files and folders that the caller names, and no others.

    Raises:
        UsageProblem: there is no such file or folder.
    """
    folders = []
    for named in paths:
        path = Path(named).absolute()
        if named and path.is_dir():
            folders.append(RuleFolder(str(path), "rules"))
        elif path.suffix == ".py" and path.is_file():
            folders.append(RuleFolder(str(path.parent), "rules", path.name))
        else:
            raise UsageProblem(
                f"{named or repr(named)}: there is no such folder, and no such Python file; name "
                "the file of a rule, or the folder that rules lie in"
            )
    use(_rules_of(tuple(folders), ""))


def use_sources(sources: OwnSources) -> None:
    """Use the rules that another process, or this one before, found in these sources.

    Raises:
        UsageProblem: the files have changed since, or are others here.
    """
    if in_use().sources == sources:
        return
    use(_LOADED.get(sources) or _rules_of(sources.folders, sources.withheld))
    if in_use().sources.digest != sources.digest:
        raise UsageProblem("the files of the project's own rules changed meanwhile; run it again")


def _rules_of(folders: tuple[RuleFolder, ...], withheld: str) -> OwnRules:
    if not (folders or withheld):
        return NO_RULES
    from kdoctor.own_rules.folder import digest_of, read_folder  # noqa: PLC0415

    read = tuple(map(read_folder, folders))
    sources = OwnSources(folders, digest_of(read, withheld), withheld)
    if sources not in _LOADED:
        if len(_LOADED) >= _CACHE_SIZE:
            _LOADED.clear()
        # Only where there are rules: it takes longer than a small scan.
        from kdoctor.syntax.lowering.libcst_import_patch import import_libcst  # noqa: PLC0415

        import_libcst()
        from kdoctor.own_rules.loading import load  # noqa: PLC0415

        _LOADED[sources] = load(sources, read) if folders else OwnRules(sources)
    return _LOADED[sources]
