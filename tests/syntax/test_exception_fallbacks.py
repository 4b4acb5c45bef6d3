"""Code that fails on the target, and does no harm there."""

import pytest

from .guarded import guarded


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    from k.old import x\nexcept ImportError:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept Exception:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept (ValueError, ImportError):\n    from k.new import x",
        "try:\n    from k.old import x\nexcept ModuleNotFoundError:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = 3",
        "try:\n    from k.old import x\nexcept ImportError:\n    def x(): pass",
        "try:\n    from k.old import x\nexcept ImportError:\n    class x: pass",
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    try:\n        from k.gone import x\n"
            "    except ImportError:\n        from k.new import x"
        ),
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None\nif x is not None:\n    x()",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None\nNEW = x is None",
        (
            "try:\n    from k.old import x\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
            "if HAS:\n    x()"
        ),
        "import k\nif k.__version__ < '3':\n    from k.old import x",
        (
            "def f():\n    try:\n        from k.old import x\n    except ImportError:\n"
            "        from k.new import x"
        ),
    ],
)
def test_an_import_with_a_fallback_that_works_is_guarded(parse, source):
    assert guarded(parse, source, "k.old.x")


@pytest.mark.parametrize(
    "source",
    [
        "from k.old import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    pass",
        "try:\n    from k.old import x\nexcept ImportError:\n    raise",
        "try:\n    from k.old import x\nexcept ImportError as e:\n    print(e)",
        "try:\n    from k.old import x\nexcept ValueError:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    from k.gone import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    from k.new import y",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None\nx()",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None",
        "try:\n    pass\nexcept ImportError:\n    from k.old import x",
        "try:\n    from k.old import x\nfinally:\n    x = 3",
        "if something:\n    from k.old import x",
        "import k\nif k.__version__ > '3':\n    from k.old import x",
        "if True:\n    from k.old import x",
    ],
)
def test_an_import_without_one_is_not(parse, source):
    assert not guarded(parse, source, "k.old.x")


def test_a_missing_name_in_a_module_that_is_there_is_no_missing_module(parse):
    source = "try:\n    from k.ops import gone\nexcept {}:\n    from k.ops import here as gone"

    assert not guarded(parse, source.format("ModuleNotFoundError"), "k.ops.gone")
    assert guarded(parse, source.format("ImportError"), "k.ops.gone")


def test_the_fallback_of_an_import_that_works_is_never_reached(parse):
    source = (
        "try:\n    from k.new import x\nexcept ImportError:\n    from k.old import x\n    k.gone"
    )

    assert guarded(parse, source, "k.old.x")


def test_the_fallback_is_reached_where_something_else_can_fail(parse):
    source = "try:\n    from k.new import x\n    f()\nexcept E:\n    from k.old import x"

    assert not guarded(parse, source, "k.old.x")


@pytest.mark.parametrize(
    "handler",
    ["except ValueError:\n    pass", "except ImportError:\n    raise", "finally:\n    f()"],
)
def test_an_import_whose_failure_nobody_survives_hides_no_other(parse, handler):
    source = f"try:\n    from k.old import x\n    from k.gone import y\n{handler}"

    assert not guarded(parse, source, "k.gone.y")


def test_an_import_statement_of_a_class_fails(parse):
    of_class = "try:\n    import k.layers.Dense\n    k.old.x()\nexcept ImportError:\n    k.old.y()"
    assert guarded(parse, of_class, "k.old.x")
    assert not guarded(parse, of_class, "k.old.y")
    of_module = of_class.replace("layers.Dense", "layers")
    assert not guarded(parse, of_module, "k.old.x")


def test_what_comes_after_a_failing_import_is_never_reached(parse):
    source = """
        try:
            from k.old import x
            from k import gone
        except ImportError:
            from k.new import x
    """

    assert guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    "source",
    [
        "if hasattr(k.ops, 'gone'):\n    k.ops.gone(x)",
        "if not hasattr(k.ops, 'gone'):\n    pass\nelse:\n    k.ops.gone(x)",
        "y = k.ops.gone(x) if hasattr(k.ops, 'gone') else 3",
        "hasattr(k.ops, 'gone') and k.ops.gone(x)",
        "not hasattr(k.ops, 'gone') or k.ops.gone(x)",
        "if getattr(k.ops, 'gone', None) is not None:\n    k.ops.gone(x)",
        "if getattr(k.ops, 'gone', None):\n    k.ops.gone(x)",
        "if y and hasattr(k.ops, 'gone'):\n    k.ops.gone(x)",
        "def f():\n    if not hasattr(k.ops, 'gone'):\n        return 3\n    return k.ops.gone(x)",
        "HAS = hasattr(k.ops, 'gone')\nif HAS:\n    k.ops.gone(x)",
        "if hasattr(k.ops, 'gone'):\n    def f():\n        return k.ops.gone(x)",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = k.ops.here(x)",
        (
            "def f():\n    try:\n        return k.ops.gone(x)\n    except Exception:\n"
            "        return k.ops.here(x)"
        ),
        "try:\n    k.ops.gone(x)\nexcept AttributeError:\n    k.ops.here(x)",
        "if False:\n    k.ops.gone(x)",
        "try:\n    f = k.ops.gone\nexcept AttributeError:\n    from k.new import f",
        "try:\n    f = k.ops.gone\nexcept AttributeError:\n    def f(x): pass",
        "try:\n    class A(k.ops.gone): pass\nexcept AttributeError:\n    class A: pass",
        "try:\n    x.f = k.ops.gone\nexcept AttributeError:\n    x.f = 3",
        "try:\n    gone = k.ops.gone\nexcept AttributeError:\n    gone = k2.ops.gone",
        "try:\n    y, gone = 1, k.ops.gone\nexcept AttributeError:\n    y, gone = 2, k2.gone",
        "try:\n    k.ops.gone\nexcept AttributeError:\n    k = k2",
        "try:\n    y = k.ops.here\nexcept AttributeError:\n    y = k.ops.gone",
        "try:\n    k.ops.here(x)\nexcept (ImportError, AttributeError):\n    k.ops.gone(x)",
    ],
)
def test_a_use_that_is_not_reached_or_has_a_fallback_is_guarded(parse, source):
    assert guarded(parse, f"import k, k2\n{source}", "k.ops.gone")


@pytest.mark.parametrize(
    "source",
    [
        "if not hasattr(k.ops, 'gone'):\n    k.ops.gone(x)",
        "if hasattr(k.ops, 'here'):\n    k.ops.gone(x)",
        "if hasattr(x, 'gone'):\n    k.ops.gone(x)",
        "if x:\n    k.ops.gone(x)",
        "if x1 > 2:\n    k.ops.gone(x)",
        "try:\n    print(k.ops.gone(x))\nexcept AttributeError as e:\n    print(e)",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    z = 3",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = None\ny.z",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = None\ny = 3\ny.z",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    from k.old import y",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = k.ops.gone(x)",
        "try:\n    y = k.ops.gone(x)\nexcept ValueError:\n    y = 3",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    raise",
        "try:\n    k.ops.gone\nexcept AttributeError:\n    raise",
        "try:\n    k.ops.gone\nexcept ValueError:\n    k = k2",
        "try:\n    y = k.ops.here(x.y)\nexcept AttributeError:\n    y = k.ops.gone(x)",
        "try:\n    y = k.ops.here(x)\nexcept (AttributeError, ValueError):\n    k.ops.gone(x)",
        "try:\n    y = f(x)\nexcept AttributeError:\n    y = k.ops.gone(x)",
        "try:\n    y = k.ops.here(x)\nexcept:\n    y = k.ops.gone(x)",
        "def f():\n    if hasattr(k.ops, 'here'):\n        x = 1\n    return k.ops.gone(x)",
        "try:\n    def f(): return k.ops.gone(x)\nexcept AttributeError:\n    def f(): return 3",
    ],
)
def test_any_other_use_is_not(parse, source):
    assert not guarded(parse, f"import k\n{source}", "k.ops.gone")


def test_members_are_guarded_like_names(parse):
    module = parse("""
        import k
        model = k.Sequential()
        if hasattr(model, "nothing"):
            model.nothing
        try:
            x = model.nothing
        except AttributeError:
            x = model.layers
        model.nothing
    """)
    uses = [use for use in module.members if use.member == "nothing"]

    assert [module.is_guarded(use.node) for use in uses] == [True, True, False]


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\nimport k\n\n\ndef f(x: k.gone.X): pass",
        "from __future__ import annotations\nimport k\n\n\ndef f() -> list[k.gone.X]: pass",
        "import k\n\n\ndef f():\n    x: k.gone.X = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from k.gone import X",
        "import typing\nif typing.TYPE_CHECKING:\n    from k.gone import X",
    ],
)
def test_what_only_a_type_checker_reads_is_guarded(parse, source):
    assert guarded(parse, source, "k.gone.X")


@pytest.mark.parametrize(
    "source",
    [
        "import k\n\n\ndef f(x: k.gone.X): pass",
        "import k\nx: k.gone.X = None",
        "import k\n\n\ndef f():\n    class A:\n        x: k.gone.X = None",
        "from __future__ import annotations\nimport k\n\n\ndef f(x=k.gone.X): pass",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from k.gone import X",
    ],
)
def test_what_python_evaluates_is_not_for_types_only(parse, source):
    assert not guarded(parse, source, "k.gone.X")


def test_an_import_behind_one_that_may_well_work_is_guarded(parse):
    source = "try:\n    from m.own.a import x\nexcept ImportError:\n    from m.a import x"
    assert guarded(parse, source, "m.a.x")


@pytest.mark.parametrize("tried", ["m.b import x", "n.a import x", "m.own.a import y"])
def test_another_import_before_it_does_not_guard_an_import(parse, tried):
    source = f"try:\n    from {tried}\nexcept ImportError:\n    from m.a import x"
    assert not guarded(parse, source, "m.a.x")


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ("except NameError:\n    y = 3", True),
        ("except NameError:\n    pass", True),
        ("except (NameError, AttributeError) as e:\n    print(e)", True),
        ("except:\n    y = 3", True),
        ("except Exception:\n    pass", False),
        ("except AttributeError:\n    y = 3", False),
        ("except ImportError:\n    y = 3", False),
        ("except NameError:\n    raise SystemExit", False),
    ],
)
def test_a_name_that_nothing_binds_is_guarded_by_a_handler_for_it(parse, handler, expected):
    module = parse(f"from k import *\ntry:\n    y = x.old()\n{handler}")
    assert module.is_guarded(module.unbound_reads["x"]) is expected


def test_a_handler_for_a_name_guards_no_attribute(parse):
    source = "import k\ntry:\n    y = k.old.x\nexcept NameError:\n    y = 3"
    assert not guarded(parse, source, "k.old.x")


def test_a_call_by_way_of_what_is_there_does_the_work(parse):
    source = "import k\ntry:\n    k.old.make().update(x)\nexcept AttributeError:\n    {}"

    assert guarded(parse, source.format("k.new.make().update(x)"), "k.old.make")
    assert not guarded(parse, source.format("k.new.take().update(x)"), "k.old.make")
    assert not guarded(parse, source.format("pass"), "k.old.make")


def test_what_only_a_type_checker_reads_is_guarded_by_whatever_name(parse):
    source = "import k\nfrom typing import TYPE_CHECKING as TC\nif TC:\n    k.gone\n"
    assert guarded(parse, source, "k.gone")
    source = "import k\nfrom mine import TC\nif TC:\n    k.gone\n"
    assert not guarded(parse, source, "k.gone")


BELOW = "try:\n    from k.old import x\n    k.ops.gone(y)\n"


@pytest.mark.parametrize(
    "source",
    [
        f"{BELOW}except ImportError:\n    print('install the old one')",
        f"{BELOW}except ImportError as e:\n    print(e)\nfinally:\n    f()",
        f"{BELOW}except ImportError:\n    pass",
        f"{BELOW}except Exception:\n    sys.exit(1)",
        "try:\n    from k.old import x\nexcept ImportError:\n    f()\nelse:\n    k.ops.gone(y)",
        "try:\n    from k.old import x\nexcept ImportError:\n    f()\n    k.ops.gone(y)",
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    x = None\n"
            "if x is None:\n    raise ImportError('it needs k.old')\nk.ops.gone(y)"
        ),
        (
            "try:\n    from k.old import x\n    HAS_X = True\nexcept ImportError:\n"
            "    HAS_X = False\nif not HAS_X:\n    raise RuntimeError('it needs k.old')\n"
            "k.ops.gone(y)"
        ),
    ],
)
def test_what_stands_below_an_import_that_will_be_mended_is_looked_at(parse, source):
    assert not guarded(parse, f"import k, sys\n{source}", "k.old.x")
    module = parse(f"import k, sys\n{source}")
    (use,) = [each for each in module.references if each.name.endswith("ops.gone")]
    assert not module.is_guarded(use.node)


@pytest.mark.parametrize(
    "source",
    [
        # The fallback works.
        f"{BELOW}except ImportError:\n    from k.new import x\nx(1)",
        # The program is written for both.
        (
            "try:\n    from k.old import x\n    OLD = True\nexcept ImportError:\n    OLD = False\n"
            "if OLD:\n    k.ops.gone(y)"
        ),
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    x = None\n"
            "def f():\n    if x is None:\n        raise ImportError('it needs k.old')\n"
            "    k.ops.gone(x)"
        ),
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    x = None\n"
            "if x is not None:\n    k.ops.gone(x)"
        ),
        # What it is for is done in the same breath, or not at all.
        "try:\n    from k.old import x\n    k.ops.gone(x)\nexcept ImportError:\n    pass",
    ],
)
def test_what_stands_below_an_import_that_something_makes_up_for_is_not(parse, source):
    assert guarded(parse, f"import k\n{source}", "k.ops.gone")
