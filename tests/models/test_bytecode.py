"""The globals of a function are read off its bytecode, of whichever Python it is."""

import base64
import marshal
import random
import sys

import pytest

from kdoctor.models.bytecode import Bytecode, read_bytecode
from kdoctor.models.lambdas import modules_of

# `lambda x, y=2: tf.reduce_mean(K.abs(x)) * len(x)` as these Pythons marshal it.
RECORDED = {
    (
        "3.3",
        "3.4",
        "3.5",
        "3.6",
        "3.7",
    ): "4wIAAAAAAAAAAgAAAAUAAABDAAAAcxgAAAB0AKABdAKgA3wAoQGhAXQEfACDARQAUwApAU4pBdoCdGZa"
    "C3JlZHVjZV9tZWFu2gFL2gNhYnPaA2xlbikC2gF42gF5qQByBwAAANoIPHN0cmluZz7aCDxsYW1iZGE+AQAAAPMAAAAA",
    (
        "3.8",
        "3.9",
        "3.10",
    ): "4wIAAAAAAAAAAAAAAAIAAAAFAAAAQwAAAHMYAAAAdACgAXQCoAN8AKEBoQF0BHwAgwEUAFMAKQFOKQXaAn"
    "RmWgtyZWR1Y2VfbWVhbtoBS9oDYWJz2gNsZW4pAtoBeNoBeakAcgcAAADaCDxzdHJpbmc+2gg8bGFtYmRhPgEAAADzAAAAAA==",
    (
        "3.11",
        "3.12",
    ): "4wIAAAAAAAAAAAAAAAUAAAADAAAA82oAAACXAHQAAAAAAAAAAABqAwAAAAAAAAAAAAAAAAAAAAAAAHQE"
    "AAAAAAAAAABqBwAAAAAAAAAAAAAAAAAAAAAAAHwAqwEAAAAAAACrAQAAAAAAAHQJAAAAAAAAAAB8AKsBAAAAAAAAegUAAFMA"
    "KQFOKQXaAnRm2gtyZWR1Y2VfbWVhbtoBS9oDYWJz2gNsZW4pAtoBeNoBeXMCAAAAICD6CDxzdHJpbmc++gg8bGFtYmRhPnIK"
    "AAAAAQAAAHMgAAAAgACMco9+iX6cYZ9lmWWgQZto0w8nrCOoYasm0Q8wgADzAAAAAA==",
    (
        "3.13",
    ): "4wIAAAAAAAAAAAAAAAUAAAADAAAA82oAAACVAFsAAAAAAAAAAABSAwAAAAAAAAAAAAAAAAAAAAAAAFsEAAAAAAAAAABS"
    "BwAAAAAAAAAAAAAAAAAAAAAAAFUANQEAAAAAAAA1AQAAAAAAAFsJAAAAAAAAAABVADUBAAAAAAAALQUAACQAKQFOKQXaAnRm"
    "2gtyZWR1Y2VfbWVhbtoBS9oDYWJz2gNsZW4pAtoBeNoBeXMCAAAAICDaCDxzdHJpbmc+2gg8bGFtYmRhPnIKAAAAAQAAAHMe"
    "AAAAgACMco9+iX6cYZ9lmWWgQZto0w8nrCOoYasm0g8w8wAAAAA=",
}
THIS = {(3, 11): ("3.11", "3.12"), (3, 12): ("3.11", "3.12"), (3, 13): ("3.13",)}


def encoded(function):
    return base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")


@pytest.mark.parametrize("pythons", RECORDED)
def test_the_globals_and_the_python_of_recorded_bytecode(pythons):
    found = read_bytecode(RECORDED[pythons])
    assert (found.globals, found.pythons) == (("tf", "K"), pythons)
    assert found.code[3:] == (("x", "y"), "<string>", "<lambda>", 1, ())


@pytest.mark.skipif(sys.version_info[:2] not in THIS, reason="a Python that is not known yet")
@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda x: x * 2, ()),
        (lambda x: len(x) + tf.abs(x), ("tf",)),  # noqa: F821
        (lambda x: [helper(each) for each in x], ("helper",)),  # noqa: F821
        (lambda x: lambda y: K.mean(x + y, axis=(1, -1)), ("K",)),  # noqa: F821
        (lambda x: x**2.5 + 10**20 + 1j, ()),
    ],
)
def test_what_this_python_makes(function, names):
    found = read_bytecode(encoded(function))
    assert (found.globals, found.pythons) == (names, THIS[sys.version_info[:2]])
    assert found.code.code == function.__code__.co_code
    assert found.code.line == function.__code__.co_firstlineno


def test_a_closure_is_no_global():
    scale = 3
    assert read_bytecode(encoded(lambda x: x * scale + np.e)).globals == ("np",)  # noqa: F821


def test_damaged_bytecode_is_not_read():
    whole = base64.b64decode(RECORDED["3.8", "3.9", "3.10"])
    draw = random.Random(0)  # noqa: S311
    assert read_bytecode("no base64!") == Bytecode()
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(3):
            data[draw.randrange(len(data))] = draw.randrange(256)
        found = read_bytecode(base64.b64encode(data[: draw.randrange(1, len(data))]).decode())
        assert found == Bytecode()


def test_a_nest_of_tuples_is_not_followed_to_the_end():
    data = b")\x01" * 100_000
    assert read_bytecode(base64.b64encode(data).decode()) == Bytecode()


def test_the_modules_of_lambdas_are_told_with_what_is_needed_of_each():
    code = base64.b64encode(marshal.dumps((lambda x: tf.abs(x) * SCALE).__code__)).decode()  # noqa: F821
    layers = [
        {
            "class_name": "Lambda",
            "config": {
                "function": [code, None, None],
                "function_type": "lambda",
                "module": "train",
            },
        },
        {
            "class_name": "Lambda",
            "config": {"function": "double", "function_type": "function", "module": "mine"},
        },
        {"class_name": "Lambda", "config": {"function": [code, None, None]}},
    ]
    found = modules_of({"class_name": "Sequential", "config": {"layers": layers}})
    assert found == {"train": {"tf", "SCALE"}, "mine": {"double"}, "__main__": {"tf", "SCALE"}}
