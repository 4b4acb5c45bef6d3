"""Bytes to text and back without loss: byte order marks and declared encodings."""

from __future__ import annotations

import codecs
import tokenize

from msgspec import Struct

from kdoctor.errors import FileProblem

_BOM = codecs.BOM_UTF8
_WIDE_BOMS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_WIDE_STARTS = tuple(_WIDE_BOMS)
_LITTLE = 0xFF  # the first byte of a mark, where the low byte of a number comes first
# What people have beside their code. Each is no text, whatever the file is called.
_BINARY_STARTS = {
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"PK\x03\x04": "a zip archive, as .keras and .npz files are",
    b"\x93NUMPY": "a NumPy array",
    b"\x1f\x8b": "a gzip archive",
    **{b"\x80" + bytes([protocol]): "a pickle" for protocol in range(2, 6)},
}
# Of a text's bytes. Logs hold a few: colors, progress bars, the hole that a rotation leaves.
_MAX_CONTROL_SHARE = 0.05
_CONTROLS = bytes({*range(32)} - {*b"\b\t\n\f\r\x1b"})
_SAMPLE_SIZE = 8_192  # bytes


class Decoded(Struct, frozen=True):
    """A file's text, and what turns it into the same bytes again."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return the bytes of another text in this file's encoding.

        Raises:
            FileProblem: the encoding lacks a character, or does not keep the untouched bytes.
        """
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeError as error:
            raise FileProblem(
                f"its encoding {self.encoding} cannot represent the new text; "
                "save it as UTF-8 first"
            ) from error


def decode_utf8(data: bytes) -> Decoded:
    """Decode a file that must be UTF-8, with or without a byte order mark.

    Raises:
        FileProblem: it is not UTF-8, or holds null bytes.
    """
    for mark, name in _WIDE_BOMS.items():
        if data.startswith(mark):
            raise FileProblem(f"encoded in {name}; save it as UTF-8")
    mark = _BOM if data.startswith(_BOM) else b""
    return _decode(data[len(mark) :], "utf-8", mark)


def decode_any(data: bytes) -> Decoded:
    """Decode a text of which only what is ASCII counts: no byte of it is lost.

    PowerShell writes ``pip freeze > requirements.txt`` in UTF-16; what is no UTF-8 is read as
    Latin-1, which gives each byte back.
    """
    for mark, name in _WIDE_BOMS.items():
        if data.startswith(mark):
            wide = f"{name.lower()}-{'le' if mark[0] == _LITTLE else 'be'}"
            decoded = Decoded(data[len(mark) :].decode(wide, "replace"), wide, mark)
            return decoded if decoded.encode(decoded.text) == data else _as_latin_1(data)
    mark = _BOM if data.startswith(_BOM) else b""
    try:
        return Decoded(data[len(mark) :].decode(), "utf-8", mark)
    except UnicodeDecodeError:
        return _as_latin_1(data)


def _as_latin_1(data: bytes) -> Decoded:
    return Decoded(data.decode("latin-1"), "latin-1")


def as_searched(data: bytes) -> bytes:
    """Return bytes in which words can be found: those of a file, were a wide one saved as UTF-8.

    Who searches a wide one as it is finds nothing in it, and passes it over in silence.
    """
    if data.startswith(_WIDE_STARTS):
        wide = next(name for mark, name in _WIDE_BOMS.items() if data.startswith(mark))
        return data.decode(wide, "replace").encode("utf-8", "replace")
    return data


def _binary_format(data: bytes) -> str | None:
    """Name the format of bytes that begin as no text does, None where they may be text."""
    return next((name for start, name in _BINARY_STARTS.items() if data.startswith(start)), None)


def why_not_text(data: bytes) -> str | None:
    """Say what bytes are that are no text, None where they are text in any encoding."""
    found = _binary_format(data)
    if found is not None or data.startswith(_WIDE_STARTS):
        return found
    sample = data.lstrip(b"\0")[:_SAMPLE_SIZE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return "binary data" if controls > len(sample) * _MAX_CONTROL_SHARE else None


def decode_python(data: bytes) -> Decoded:
    """Decode Python source by its byte order mark or its declaration (PEP 263).

    Raises:
        FileProblem: the encoding is unknown, not that of the bytes, or the file holds null bytes.
    """
    start = data[:4096]
    if b"coding" not in start:
        return decode_utf8(data)  # nearly always
    # Python knows three kinds of newline here; a file's readline() knows one.
    first_lines = iter(start.splitlines(keepends=True)[:2])
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(first_lines))
    except SyntaxError as error:
        if str(error).startswith("unknown encoding"):
            raise FileProblem(f"declares an {error}; save it as UTF-8") from error
        return decode_utf8(data)  # raises, with the byte at fault
    if encoding in ("utf-8", "utf-8-sig"):
        return decode_utf8(data)
    decoded = _decode(data, encoding, b"")
    if decoded.encode(decoded.text) != data:
        raise FileProblem(
            f"its encoding {encoding} does not reproduce the bytes of the file; save it as UTF-8"
        )
    return decoded


def _decode(data: bytes, encoding: str, mark: bytes) -> Decoded:
    if b"\0" in data:
        found = _binary_format(data)
        if found is not None:
            raise FileProblem(f"not text, but {found}")
        raise FileProblem(f"contains a null byte (at byte {data.index(0) + len(mark)})")
    try:
        return Decoded(data.decode(encoding), encoding, mark)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileProblem(
            f"not {encoding}: byte 0x{data[error.start]:02x} on line {line} "
            f"({error.reason}); save it as UTF-8"
        ) from error
    except (LookupError, ValueError) as error:  # a codec that is no text encoding, such as rot13
        raise FileProblem(
            f"declares {encoding}, which is not a text encoding; save it as UTF-8"
        ) from error
