"""Write ``kdoctor/rules/arguments/_keras_1.py`` from the converters that Keras 2.2 came with.

    python tools/keras_1_arguments.py           # prints it; --write writes it

Keras 2.0 to 2.3 took the arguments of Keras 1 and renamed them: ``keras/legacy/interfaces.py`` says
how, a decorator says where. Both are read from the wheel, nothing is imported.
"""

from __future__ import annotations

import ast
import pprint
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.api_data.wheels import Wheel

RELEASE = "2.2.5"
CACHE = Path.home() / ".cache" / "kdoctor" / "wheels"  # where `make api-data` puts them
INTERFACES = "keras/legacy/interfaces.py"
OUTPUT = Path(__file__).parent.parent / "kdoctor" / "rules" / "arguments" / "_keras_1.py"
Converter = tuple[dict[str, str], dict[str, object]]


def main() -> int:
    """Print the module, or write it."""
    text = generated(Wheel.read(next(CACHE.glob(f"[Kk]eras-{RELEASE}-*.whl"))))
    if "--write" in sys.argv[1:]:
        OUTPUT.write_text(text, encoding="utf-8")
        subprocess.run(
            [Path(sys.executable).with_name("ruff"), "format", "-q", str(OUTPUT)], check=False
        )
    else:
        print(text)
    return 0


def generated(wheel: Wheel) -> str:
    """Return the module's text, not formatted."""
    interfaces = dict(interfaces_in(wheel.files[INTERFACES]))
    renamed = {
        owner: interfaces[name][0]
        for owner, name in sorted(decorated(wheel))
        if interfaces.get(name) and interfaces[name][0]
    }
    values: dict[str, object] = {}
    for _, converted in interfaces.values():
        values |= converted
    header = (
        f'"""What Keras {RELEASE} made of the arguments of Keras 1. Generated, do not edit.\n\n'
    )
    return (
        f"{header}``python tools/keras_1_arguments.py --write`` reads it from the wheel.\n"
        '"""\n\nfrom __future__ import annotations\n\nfrom typing import Final\n\n'
        "# By class, and by function or method: the old keyword and the one of today.\n"
        f"RENAMED: Final[dict[str, dict[str, str]]] = {pprint.pformat(renamed)}\n\n"
        "# By old keyword: the old value and the one of today.\n"
        f"VALUES: Final[dict[str, dict[str, object]]] = {pprint.pformat(values)}\n"
    )


def interfaces_in(source: str) -> Iterator[tuple[str, Converter]]:
    """Yield each converter with the keywords that it renames and the values that it changes."""
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(keywords=keywords)):
                given = {each.arg: each.value for each in keywords}
                renamed = given.get("conversions")
                values = given.get("value_conversions")
                yield (
                    name,
                    (
                        dict(ast.literal_eval(renamed)) if renamed is not None else {},
                        ast.literal_eval(values) if values is not None else {},
                    ),
                )


def decorated(wheel: Wheel) -> Iterator[tuple[str, str]]:
    """Yield each class, function or method that a converter stands over, with the converter."""
    classes: dict[str, tuple[list[str], str | None]] = {}
    for path, source in sorted(wheel.files.items()):
        if not path.startswith("keras/") or "interfaces." not in source:
            continue
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and (name := _converter(node)):
                yield node.name, name
            if not isinstance(node, ast.ClassDef):
                continue
            bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            own = {each.name: _converter(each) for each in methods}
            classes[node.name] = (bases, own.pop("__init__", ""))
            for method, converter in own.items():
                if converter and method.endswith("_generator"):
                    yield method, converter
    for name in classes:
        converter = _inherited(name, classes)
        if converter and not name.startswith("_"):
            yield name, converter


def _converter(function: ast.FunctionDef) -> str | None:
    found = (ast.unparse(each) for each in function.decorator_list)
    return next((n.partition(".")[2] for n in found if n.startswith("interfaces.legacy_")), None)


def _inherited(name: str, classes: dict[str, tuple[list[str], str | None]]) -> str | None:
    """Return the converter over a class's ``__init__``, or over the one that it inherits."""
    bases, converter = classes.get(name, ([], None))
    if converter != "":
        return converter
    return next((found for base in bases if (found := _inherited(base, classes))), None)


if __name__ == "__main__":
    sys.exit(main())
