"""Parse one requirement: of Python packaging, of Poetry, of conda."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from packaging.version import Version

from kdoctor.errors import FileProblem
from kdoctor.lazy_regex import pattern
from kdoctor.project.evidence import Distribution, Evidence, distribution_of

_OVERLONG_NUMBER: Final = pattern(r"\d{1000}")
_MAX_QUOTED_LENGTH: Final = 60  # characters of a requirement in a message
_NAME: Final = pattern(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)")
# keras-2.3.1.tar.gz, tensorflow-1.15.0-cp37-cp37m-linux_x86_64.whl
_ARCHIVE: Final = pattern(r"([A-Za-z][A-Za-z_.-]*?)-(\d[\w.]*?)(?:-[\w.]+)*\.(?:whl|tar\.gz|zip)\b")
_PIN: Final = pattern(r"\s*([A-Za-z0-9][\w.-]*?)\s*(==[\w.+!]+|)\s*")
_EGG: Final = pattern(r"#egg=([\w.-]+)")
_REVISION: Final = pattern(r"@v?(\d+(?:\.\d+)+)\b")
_REPOSITORY: Final = pattern(r"/(?:keras-team|fchollet|tensorflow)/(keras|tf-keras|tensorflow)\b")
_CONDA: Final = pattern(r"(?:[\w./-]+::)?(?P<name>[A-Za-z0-9][\w.-]*)\s*(?P<rest>.*)$", re.DOTALL)
_NUMBER: Final = pattern(r"v?\d+(?:\.\d+)*")


class Where(Struct, frozen=True):
    """The location of a requirement, and its extra or dependency group."""

    path: str
    line: int | None
    group: str = ""

    def says(
        self, distribution: Distribution, text: str, specifiers: str, marker: str = ""
    ) -> Evidence:
        """Return the evidence of a requirement at this location.

        Raises:
            FileProblem: the specifiers are none.
        """
        _check_digits(specifiers, text)
        if specifiers and exact_version(specifiers) is None:
            from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415

            try:
                SpecifierSet(specifiers)
            except InvalidSpecifier:
                raise FileProblem(f"'{text}' has no valid version") from None
        nightly = "nightly" in text.lower()
        place = (self.path, self.line, self.group)
        return Evidence(distribution, text, specifiers, *place, marker, nightly)


def _check_digits(version: str, text: str) -> None:
    """Refuse numbers with more digits than Python parses (4,300).

    Raises:
        FileProblem: one is longer than any version's.
    """
    if _OVERLONG_NUMBER.search(version):
        raise FileProblem(f"'{text[:_MAX_QUOTED_LENGTH]}…' has no valid version")


def parse_requirement(text: str, where: Where) -> Evidence | None:
    """Return what a requirement of Python packaging says; None where it is not about Keras.

    ``text`` may be a direct reference (``keras @ https://…``) or a mere address.

    Raises:
        FileProblem: it is about Keras and cannot be understood.
    """
    address = _address(text, where)
    if address is not None:
        return address
    named = _NAME.match(text)
    distribution = distribution_of(named.group(1)) if named else None
    if named is None or distribution is None:
        return None
    _check_digits(text, text)
    plain = _PIN.fullmatch(text)
    if plain is not None and (not plain.group(2) or exact_version(plain.group(2))):
        return where.says(distribution, "".join(plain.groups()), plain.group(2))
    # Imported for what concerns Keras, and is more than a name and a version, only.
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415

    for spelling in _spellings(text):
        try:
            found = Requirement(spelling)
        except InvalidRequirement:
            continue
        shown, marker = f"{found.name}{found.specifier}", str(found.marker or "")
        return where.says(distribution, shown, str(found.specifier), marker)
    raise FileProblem(f"'{text.strip()}' is not a valid requirement")


def parse_poetry(name: str, version: str, where: Where, marker: str = "") -> Iterator[Evidence]:
    """Yield what a row of a Poetry or Pipfile table says: ``keras = "^2.4"``; one a ``||``.

    Raises:
        FileProblem: the version cannot be understood.
    """
    distribution = distribution_of(name)
    if distribution is None:
        return
    _check_digits(version, f"{name} {version}")
    choices = [choice for choice in re.split(r"\|\|?", version) if choice.strip()] or [""]
    for choice in choices:
        parts = [part.strip() for part in choice.split(",") if part.strip()]
        specifiers = ",".join(filter(None, map(_of_poetry, parts)))
        either = marker or (version if len(choices) > 1 else "")
        yield where.says(distribution, f"{name} {version}".strip(), specifiers, either)


def parse_conda(text: str, where: Where) -> Evidence | None:
    """Return what a match specification of conda says: ``keras=2.3``, ``tensorflow >=2,<2.4``.

    Raises:
        FileProblem: it is about Keras and cannot be understood.
    """
    matched = _CONDA.match(text.partition("#")[0].strip())
    distribution = distribution_of(matched["name"]) if matched else None
    if matched is None or distribution is None:
        return None
    rest = matched["rest"].strip()
    bracket = re.search(r"version\s*=\s*['\"]?([^'\"\]]+)", rest) if "[" in rest else None
    rest = bracket.group(1).strip() if bracket else rest.partition("[")[0].strip()
    return where.says(distribution, text.strip(), _of_conda(rest))


def exact_version(specifiers: str) -> Version | None:
    """Return the one version that is allowed, None where there may be several.

    >>> exact_version("==2.10")
    <Version('2.10')>
    """
    if not specifiers.startswith("==") or "," in specifiers or "*" in specifiers:
        return None
    try:
        return Version(specifiers.lstrip("=").strip())
    except ValueError:  # === takes anything
        return None


def pinned(distribution: Distribution, name: str, version: str, where: Where) -> Evidence:
    """Return what a lock file or an installation says.

    Raises:
        FileProblem: the version is none.
    """
    return where.says(distribution, f"{name} {version}", f"=={version}")


def _address(text: str, where: Where) -> Evidence | None:
    """Read an address: an archive's name holds the version, a tag of a repository often does."""
    if "://" not in text and not text.lstrip().startswith(("./", "../", "/")):
        return None
    name, _, target = (
        text.partition("@") if re.match(r"\s*[\w.\[\],-]+\s*@", text) else ("", "", text)
    )
    found = _ARCHIVE.search(target)
    egg = _EGG.search(target)
    named = _NAME.match(name)
    origin = _REPOSITORY.search(target)
    given = next((one.group(1) for one in (named, egg, found, origin) if one), "")
    distribution = distribution_of(given)
    if distribution is None:
        return None
    tag = _REVISION.search(target)
    version = found.group(2) if found else tag.group(1) if tag else ""
    return where.says(distribution, text.strip(), f"=={version}" if version else "")


def _spellings(text: str) -> Iterator[str]:
    """Yield the requirement as written, then corrected spellings of it."""
    yield text
    version, _, marker = text.partition(";")
    behind = f";{marker}" if marker else ""
    # `conda list --export` writes name=version=build.
    exported = re.fullmatch(r"\s*([\w.-]+?)\s*==?\s*([\w.*]+?)(?:=[\w.]+)?\s*", version)
    if exported:
        yield f"{exported.group(1)}=={exported.group(2)}{behind}"
    # No tool takes `>=2.0.*` any more; it stood for `>=2.0`.
    yield re.sub(r"([<>]=?\s*[\d.]*\d)\.\*", r"\1", version) + behind
    # `keras 2.3.1`
    spaced = re.fullmatch(r"\s*([\w.-]+)\s+v?(\d[\w.*]*)\s*", version)
    if spaced:
        yield f"{spaced.group(1)}=={spaced.group(2)}{behind}"


def _of_poetry(part: str) -> str:
    if part == "*":
        return ""
    if part[0] in "^~" and not part.startswith(("~=", "~>")):
        number = part[1:].strip(" =")
        return f">={number},<{_next(number, caret=part[0] == '^')}"
    if part[0].isdigit():
        return f"=={part}"
    if part[0] == "=" and part[1:2] != "=":
        return f"={part}"
    return part


def _next(number: str, *, caret: bool) -> str:
    """Return the version that ``^number`` or ``~number`` ends before.

    >>> _next("2.4.1", caret=True), _next("2.4.1", caret=False), _next("0.3", caret=True)
    ('3', '2.5', '0.4')
    """
    matched = _NUMBER.match(number)
    parts = [int(part) for part in matched.group(0).lstrip("v").split(".")] if matched else [0]
    if caret:
        at = next((index for index, part in enumerate(parts) if part), len(parts) - 1)
    else:
        at = min(1, len(parts) - 1)
    return ".".join(map(str, [*parts[:at], parts[at] + 1]))


def _of_conda(rest: str) -> str:
    if not rest or rest == "*":
        return ""
    fuzzy = re.fullmatch(r"=\s*v?(\d[\w.]*?)(?:\.?\*)?(?:=[\w.*]+)?", rest)
    if fuzzy:
        return f"=={fuzzy.group(1)}.*" if "=" not in rest[1:] else f"=={fuzzy.group(1)}"
    spaced = re.fullmatch(r"v?(\d[\w.]*?)(?P<star>\.?\*)?(?:\s+[\w.*]+)?", rest)
    if spaced:
        return f"=={spaced.group(1)}{'.*' if spaced['star'] else ''}"
    exact = re.fullmatch(r"==\s*(\d[\w.]*)(?:=[\w.*]+)?", rest)
    if exact:
        return f"=={exact.group(1)}"
    return re.sub(r"([<>]=?\s*[\d.]*\d)\.\*", r"\1", rest.partition("|")[0].strip())
