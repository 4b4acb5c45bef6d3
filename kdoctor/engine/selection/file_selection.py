"""Per-file rule selection, exclusion and namespace: options first, then settings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.config import (
    BACKENDS,
    KERAS_2_HELPERS,
    PROJECT_TYPES,
    RULES_OF_BACKENDS,
    other_backends,
)
from kdoctor.documents import Listing, Patterns, discover, is_excluded
from kdoctor.documents.discovery import Search
from kdoctor.engine.options import Options, each_of
from kdoctor.engine.result import ProjectNotes
from kdoctor.engine.schedule.task import Task, absolute, working_folder
from kdoctor.engine.selection.broken_settings import BrokenSettings
from kdoctor.errors import UsageProblem
from kdoctor.model import Applicability
from kdoctor.own_rules.activating import use_rules_in, use_rules_of
from kdoctor.project import Configs, Settings, start_of
from kdoctor.project.code_style import CodeStyle, CodeStyles
from kdoctor.project.root import shown
from kdoctor.project.settings import NO_SETTINGS
from kdoctor.rules.own import in_use
from kdoctor.rules.preview import PREVIEW

STDIN: Final = "-"
_KEEP: Final = "keep"
_NAMESPACES: Final = {None: "", "": "", _KEEP: "", "keras": "keras", "tf.keras": "tf.keras"}

Codes = tuple[str, ...] | None  # None: all rules


class Exemption(Struct, frozen=True):
    """Rules ignored in files that match (``negated``: in all others)."""

    patterns: Patterns
    negated: bool
    codes: frozenset[str]

    def holds(self, path: str) -> bool:
        """Say whether it applies to a file, given by its absolute path."""
        return bool(self.patterns.decide(path)) is not self.negated


def applicable(*, unsafe: bool) -> frozenset[Applicability]:
    """Return the applicability of fixes that are applied."""
    return frozenset({Applicability.SAFE, *([Applicability.UNSAFE] if unsafe else ())})


class FileSelection:
    """The settings for the files of one run; the nearest configuration wins.

    ``start`` is the folder in which all named paths lie; ``main`` its settings, which decide about
    the run as a whole. Those of other folders that cannot be used are in ``broken_settings``.

    Raises:
        UsageProblem: a setting cannot be what it is, or an option names no rule.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]], options: Options) -> None:
        self._options = options
        self.broken_settings = BrokenSettings()
        self.configs = Configs(options.get("config"), isolated=options.get("isolated", False))
        alias = options.get("stdin_filename")
        self.start = start_of(alias if alias and path == STDIN else path for path in paths)
        self._use_own_rules()
        named = options.get("namespace")
        if named not in _NAMESPACES:
            raise UsageProblem(f"unknown namespace {named!r}; choose keras, tf.keras or keep")
        if options.get("keras_2_helpers") not in (None, *KERAS_2_HELPERS):
            raise UsageProblem(
                f"unknown keras_2_helpers {options['keras_2_helpers']!r}; choose "
                f"{' or '.join(KERAS_2_HELPERS)}"
            )
        self._choices: dict[Settings, Codes] = {}
        self._exemptions: dict[Settings, tuple[Exemption, ...]] = {}
        self._exclusions: dict[Settings, Patterns | None] = {}
        self._left: dict[tuple[Settings, frozenset[str]], Codes] = {}
        # What the command line says is right or wrong by itself; a file may ask for previews and
        # for other backends.
        _choice(Settings(), {**options, "preview": True, "backend": BACKENDS})
        other_backends(options.get("backend"))
        self._asked_exclude = tuple(filter(str.strip, options.get("exclude") or ()))
        if self._asked_exclude:
            _patterns(self._asked_exclude, "--exclude: ", str(Path.cwd()))
        self.has_named_settings = options.get("config") is not None
        self.styles = CodeStyles(self.start)
        self.main = self._checked_settings(str(self.start))

    def _use_own_rules(self) -> None:
        """Bring the rules of one's own into use: those of the run, which its first folder names."""
        named = self._options.get("rules")
        self._settings_of_run = self.configs.of(str(self.start))
        self._rules_elsewhere: dict[str, None] = {}
        if named is None:
            trusted = self._options.get("trust_rules", False)
            use_rules_of(self._settings_of_run, trusted=trusted)
        else:
            use_rules_in([os.fspath(each) for each in each_of(named)])
        self.own_rules = in_use()

    def of(self, folder: str) -> Settings:
        """Return the settings for files in a folder, given by its absolute path.

        None if they cannot be read or are invalid: the files of the folder are not checked.
        """
        if folder in self.broken_settings.problems:
            return NO_SETTINGS
        try:
            return self._checked_settings(folder)
        except UsageProblem as problem:
            self.broken_settings.add(folder, problem)
            return self._default_settings()

    def _default_settings(self) -> Settings:
        self._choices.setdefault(NO_SETTINGS, None)
        self._exemptions.setdefault(NO_SETTINGS, ())
        self._exclusions.setdefault(NO_SETTINGS, None)
        return NO_SETTINGS

    def _checked_settings(self, folder: str) -> Settings:
        """Return the settings for a folder.

        Raises:
            UsageProblem: they cannot be read, or say what cannot be done.
        """
        settings = self.configs.of(folder)
        if settings not in self._choices:
            self._note_rules(settings)
            self._exemptions[settings] = tuple(_exemptions(settings))
            self._exclusions[settings] = _exclusion(settings)
            self._chosen(settings)  # last: what has choices can be used
        return settings

    def _note_rules(self, settings: Settings) -> None:
        """Note that a folder further down names rules of its own: a run has those of its first."""
        layer, of_run = settings.layer("rules"), self._settings_of_run.layer("rules")
        if layer is None or (of_run is not None and of_run.path == layer.path):
            return
        self._rules_elsewhere[
            f"{layer.place('rules')}: rules: those of {shown(self.start)} count in this run; for "
            f"these, run kdoctor in {shown(Path(layer.folder))}"
        ] = None

    def codes_in(self, folder: str) -> Codes:
        """Return the rules selected in a folder, per-file ignores aside."""
        return self._choices[self.of(os.path.abspath(folder))]  # noqa: PTH100

    def codes(self, path: str) -> Codes:
        """Return the rules selected for a file."""
        own = os.path.abspath(path)  # noqa: PTH100 - links stay, and hot
        return self._codes(own, self.of(os.path.dirname(own)))  # noqa: PTH120

    def _codes(self, path: str, settings: Settings) -> Codes:
        codes = self._choices[settings]
        exemptions = self._exemptions[settings]
        if not exemptions:
            return codes
        name = Path(path).as_posix()
        ignored = frozenset(code for each in exemptions if each.holds(name) for code in each.codes)
        if not ignored:
            return codes
        key = settings, ignored
        if key not in self._left:  # one tuple for all such files: memory must not grow with them
            self._left[key] = tuple(code for code in _all(codes) if code not in ignored)
        return self._left[key]

    def with_notes(self, notes: ProjectNotes) -> ProjectNotes:
        """Add which rules of one's own are not loaded, and notes on old codes and names."""
        from kdoctor.rules.redirects import redirect_notes  # noqa: PLC0415 - once a run

        own = self.own_rules
        withheld = [own.sources.withheld] if own.sources.withheld else []
        told = (*withheld, *self._rules_elsewhere, *redirect_notes(self._entries()))
        return replace(
            notes,
            remarks=(*notes.remarks, *told),
            unreadable=(*notes.unreadable, *own.problems),
        )

    def _entries(self) -> Iterator[str]:
        """Yield all names of rules in options and in the settings read so far."""
        for option in (self._options.get("select"), self._options.get("ignore")):
            yield from option or ()
        for layer in (layer for settings in self._choices for layer in settings.layers):
            yield from layer.config.select or ()
            yield from layer.config.ignore or ()
            for entries in (layer.config.per_file_ignores or {}).values():
                yield from entries

    def selects(self, path: str, code: str) -> bool:
        """Say whether a rule is selected for a file.

        A rule of one's own that is not there, for want of trust or of its package, is not.
        """
        codes = self.codes(path)
        if codes is not None:
            return code in codes
        return code.startswith("KD") or code in self.own_rules.files

    def namespace(self, path: str) -> str:
        """Return the root to import Keras from in a file, "" for the file's own."""
        return self._namespace(self.of(os.path.dirname(os.path.abspath(path))))  # noqa: PTH100, PTH120

    def _namespace(self, settings: Settings) -> str:
        option = self._options.get("namespace")
        named = settings.value("namespace") if option is None else option
        if named is None and self._backends(settings):
            return "keras"  # `tf.keras` is there with TensorFlow only
        return _NAMESPACES[named]

    def _backends(self, settings: Settings) -> tuple[str, ...]:
        return _asked_backends(settings, self._options)

    def asks_for_backends(self, path: str) -> bool:
        """Say whether a file's code must run on another backend than TensorFlow."""
        return bool(self._backends(self.of(os.path.dirname(path))))  # noqa: PTH120 - hot

    def _helpers(self, settings: Settings) -> str:
        option = self._options.get("keras_2_helpers")
        return option or settings.value("keras-2-helpers") or KERAS_2_HELPERS[0]

    def _follows_types(self, settings: Settings) -> bool:
        asked = self._options.get("project_types"), settings.value("project-types")
        return next((each for each in asked if each is not None), PROJECT_TYPES)

    def unsafe(self, option: bool | None) -> bool:  # noqa: FBT001 - None is the third value
        """Say whether unsafe fixes are applied."""
        return bool(self.main.value("unsafe") if option is None else option)

    def assigned(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield the tasks, each with the settings of its folder."""
        # By folder, where no file has rules of its own.
        shared: dict[str, tuple[Codes, str, CodeStyle, str, bool, tuple[str, ...]]] = {}
        here = working_folder()
        for task in tasks:
            path = absolute(task.source.path, here)
            folder = os.path.dirname(path)  # noqa: PTH120 - hot
            own = shared.get(folder)
            if own is None:
                settings = self.of(folder)
                if self.broken_settings.holds(folder, task.source.path):
                    continue
                style = self.styles.of(folder)
                root, helpers = self._namespace(settings), self._helpers(settings)
                follows = self._follows_types(settings)
                asked = self._backends(settings)
                own = self._codes(path, settings), root, style, helpers, follows, asked
                if not self._exemptions[settings]:
                    shared[folder] = own
            yield task.with_settings(*own[:4], project_types=own[4], backends=own[5])

    def listing(self, paths: Iterable[str], search: Search | None = None) -> Listing:
        """List the files at and below the paths that are not excluded; of another kind if asked.

        Raises:
            UsageProblem: a path does not exist.
        """
        force = self._options.get("force_exclude", False)
        return discover(
            paths,
            self._asked_exclude,
            force=force,
            configured=self.exclusion,
            tracked=_tracked,
            search=search or Search(),
        )

    def excludes(self, path: str | os.PathLike[str]) -> bool:
        """Say whether a path is excluded even if named explicitly."""
        return self._options.get("force_exclude", False) and self.excludes_from_search(path)

    def excludes_from_search(self, path: str | os.PathLike[str]) -> bool:
        """Say whether a directory search skips a path."""
        return is_excluded(path, self._asked_exclude, configured=self.exclusion)

    def exclusion(self, folder: str) -> Patterns | None:
        """Return the exclusion of files in a folder, by its absolute path."""
        if self._options.get("exclude") is not None:
            return None  # the command line replaces it
        return self._exclusions[self.of(folder)]

    def _chosen(self, settings: Settings) -> None:
        self._choices[settings] = _choice(settings, self._options)


def _tracked(top: str) -> list[str]:
    # It starts processes: imported where something would be ignored.
    from kdoctor.project.git import tracked_files  # noqa: PLC0415

    return tracked_files(top)


def _choice(settings: Settings, options: Options) -> Codes:
    """Return the selected rules, without ``per-file-ignores``.

    A file that selects starts anew, one that only ignores adds to what it extends; so does the
    command line, which comes last.

    Raises:
        UsageProblem: a rule is unknown, or named by itself where it is not asked: in preview, or
            about backends of which nobody asked.
    """
    select, ignore = options.get("select"), options.get("ignore") or ()
    option = options.get("preview")
    hidden = _hidden(preview=bool(settings.value("preview") if option is None else option))
    layers = () if select is not None else settings.selecting
    ignored = [(each, "") for each in ignore]
    selected = None if select is None else [(each, "") for each in select]
    for layer in layers:
        ignored += [
            (each, f"{layer.place('ignore')}: ignore: ") for each in layer.config.ignore or ()
        ]
        if layer.config.select is not None:
            where = f"{layer.place('select')}: select: "
            selected = [(each, where) for each in layer.config.select]
    if selected is None and not (ignored or hidden):
        return None
    for entry, where in selected or () if hidden else ():
        code = _only_code(entry, where)
        if code in hidden:
            raise UsageProblem(
                f"{where}{code} is in preview; add --preview, or `preview = true` to the settings"
            )
    if selected and not _asked_backends(settings, options):
        for entry, where in selected:
            _check_that_it_is_asked(entry, where, _codes([(entry, where)]) or ("",))
    without = _codes(ignored) | hidden
    wanted = frozenset(_all(None)) if selected is None else _codes(selected)
    return tuple(code for code in _all(None) if code in wanted - without)


def _asked_backends(settings: Settings, options: Options) -> tuple[str, ...]:
    """Return the backends beside TensorFlow that the code must run on."""
    option = options.get("backend")
    return other_backends(settings.value("backend") if option is None else option)


def _check_that_it_is_asked(entry: str, where: str, codes: Iterable[str]) -> None:
    """Refuse to select rules that are silent without ``--backend``.

    Raises:
        UsageProblem: the entry means no other rules.
    """
    if all(code.startswith(RULES_OF_BACKENDS) for code in codes):
        raise UsageProblem(
            f"{where}{entry}: these rules are asked with a backend only; add --backend all, or "
            '`backend = "all"` to the settings'
        )


def _hidden(*, preview: bool) -> frozenset[str]:
    """Return the preview rules that are not selected."""
    return frozenset() if preview else frozenset(PREVIEW)


def _only_code(entry: str, where: str) -> str:
    """Return the code of the only rule that an entry selects, "" if it selects several."""
    codes = _codes([(entry, where)])
    return "".join(codes) if len(codes) == 1 else ""


def _codes(entries: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the codes of the named rules, each with the location of its name."""
    from kdoctor.engine.selection.codes import codes_of, may_be_withheld  # noqa: PLC0415 - only where rules are named

    found: set[str] = set()
    for entry, where in entries:
        try:
            found |= codes_of([entry])
        except UsageProblem as problem:
            # Settings that name rules of one's own hold for who does not load them, too.
            if not (where and may_be_withheld(entry)):
                raise UsageProblem(f"{where}{problem}") from None
    return frozenset(found)


def _all(codes: Codes) -> tuple[str, ...]:
    from kdoctor.engine.selection.codes import chosen_codes  # noqa: PLC0415

    return chosen_codes(None) if codes is None else codes


def _exemptions(settings: Settings) -> Iterator[Exemption]:
    layer = settings.layer("per-file-ignores")
    if layer is None:
        return
    for written, entries in (layer.config.per_file_ignores or {}).items():
        where = f"{layer.place('per-file-ignores', written)}: per-file-ignores: "
        negated = written.startswith("!")
        patterns = _patterns(
            [written.removeprefix("!")], where, layer.folder, settings.layers[0].folder
        )
        yield Exemption(patterns, negated, _codes([(entry, where) for entry in entries]))


def _exclusion(settings: Settings) -> Patterns | None:
    layer = settings.layer("exclude")
    if layer is None or not layer.config.exclude:
        return None
    where = f"{layer.place('exclude')}: exclude: "
    return _patterns(layer.config.exclude, where, layer.folder, settings.layers[0].folder)


def _patterns(written: Iterable[str], where: str, folder: str, user: str = "") -> Patterns:
    try:
        return Patterns.of(folder, written, user)
    except ValueError as error:
        raise UsageProblem(
            f"{where}{error}; write it as in .gitignore: docs/, *_old.py, /a/**/b.py"
        ) from None
