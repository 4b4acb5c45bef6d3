"""Every way to say the same name."""

import pytest

from kdoctor.model import Confidence
from kdoctor.syntax import Module, ReferenceKind


@pytest.mark.parametrize(
    "source",
    [
        "import k\nk.ops.sum(x)",
        "import k as q\nq.ops.sum(x)",
        "import k.ops\nk.ops.sum(x)",
        "import k.layers\nk.ops.sum(x)",
        "import k.ops as O\nO.sum(x)",
        "from k import ops\nops.sum(x)",
        "from k import ops as O\nO.sum(x)",
        "from k.ops import sum\nsum(x)",
        "from k.ops import sum as ksum\nksum(x)",
        "from k.ops import (\n    mean,\n    sum as ksum,\n)\nksum(x)",
        "import os, k as q\nq.ops.sum(x)",
        "import k\n(k.ops).sum(x)",
        "import k\n(\n    k\n    .ops  # the operations\n    .sum(x)\n)",
        "def f():\n    from k import ops\n    return ops.sum(x)",
        "def f():\n    return ops.sum(x)\nfrom k import ops",
        "if x:\n    from k import ops\nops.sum(x)",
        "try:\n    from k import ops\nfinally:\n    pass\nops.sum(x)",
        "from k import ops; ops.sum(x)",
        "def f(x=ops.sum(x)): pass\nfrom k import ops",
        "from k import ops\n@ops.sum(x)\ndef f(): pass",
        "from k import ops\nclass A(ops.sum(x)): pass",
        "from k import ops\nclass A:\n    y = ops.sum(x)",
        "from k import ops\nclass A:\n    def f(self):\n        return ops.sum(x)",
        "from k import ops\nf = lambda: ops.sum(x)",
        "from k import ops\ny = [ops.sum(x) for x in z]",
        "from k import ops\ny = f'{ops.sum(x)}'",
        "from k import ops\nmatch ops.sum(x):\n    case _: pass",
        "from k import ops\nwhile (y := ops.sum(x)): pass",
        "from k import ops\nasync def f():\n    await ops.sum(x)",
        "from k import ops\nx[ops.sum(x)] = 1",
        "def f():\n    global ops\n    from k import ops\nops.sum(x)",
        "def f():\n    from k import ops\n    def g():\n        return ops.sum(x)",
        "def f():\n    ops = None\n    def g():\n        nonlocal ops\n        from k import ops\n    ops.sum(x)",
        "from k import ops\nops.sum(x)\ndel ops",
    ],
)  # fmt: skip
def test_an_import_gives_a_name_its_meaning_wherever_it_is_read(parse, source):
    called = [ref for ref in parse(source).references if ref.call is not None]

    assert [(ref.name, ref.confidence) for ref in called] == [("k.ops.sum", Confidence.CERTAIN)]


@pytest.mark.parametrize(
    "source",
    [
        "import k\nO = k.ops\nO.sum(x)",
        "from k import ops\nO = ops\nO.sum(x)",
        "import k\nO = k.ops\nS = O.sum\nS(x)",
        "import k\nO, L = k.ops, k.layers\nO.sum(x)",
        "import k\n(O, [S]) = k, [k.ops.sum]\nS(x)",
        "import k\nO: object = k.ops\nO.sum(x)",
        "import k\nO = P = k.ops\nP.sum(x)",
        "import k\ndef f():\n    S = k.ops.sum\n    return S(x)",
        "import k\nif y:\n    O = k.ops\nelse:\n    O = k.ops\nO.sum(x)",
        "import k\nclass A:\n    S = k.ops.sum\n    y = S(x)",
        "import k\nif (O := k.ops):\n    O.sum(x)",
    ],
)
def test_a_second_name_by_assignment_is_likely(parse, source):
    called = [ref for ref in parse(source).references if ref.call is not None]

    assert [(ref.name, ref.confidence) for ref in called] == [("k.ops.sum", Confidence.LIKELY)]


@pytest.mark.parametrize(
    "source",
    [
        "import k\ndef f(k): return k.x",
        "import k\ndef f(*k): return k.x",
        "import k\ndef f(**k): return k.x",
        "import k\ndef f(a, /, k): return k.x",
        "import k\ndef f(*, k): return k.x",
        "import k\nlambda k: k.x",
        "import k\n[k.x for k in y]",
        "import k\n{k.x: k.y for k in y}",
        "import k\n(k.x for z in y for k in z)",
        "import k\ndef f():\n    for k in y: k.x",
        "import k\ndef f():\n    k.x\n    k = 3",
        "import k\ndef f():\n    with y as k: k.x",
        "import k\ndef f():\n    try: pass\n    except E as k: k.x",
        "import k\ndef f():\n    (k := 3)\n    k.x",
        "import k\ndef f():\n    [k := 3 for _ in y]\n    k.x",
        "import k\ndef f():\n    match y:\n        case {'a': k}: k.x",
        "import k\ndef f():\n    match y:\n        case [*k]: k.x",
        "import k\ndef f():\n    match y:\n        case {**k}: k.x",
        "import k\ndef f():\n    match y:\n        case A() as k: k.x",
        "import k\ndef f():\n    import other as k\n    def k(): pass\n    k.x",
        "import k\ndef f():\n    def k(): pass\n    k.x",
        "import k\ndef f():\n    class k: pass\n    k.x",
        "import k\ndef f():\n    a, (k, *b) = y\n    k.x",
        "import k\ndef f[k](): k.x",
        "import k\ndef f():\n    del k\n    k.x",
        "import k\nk = 3\nk.x",
        "import k\nfor k in y: k.x",
        "import k\ndef k(): pass\nk.x",
    ],
)
def test_what_hides_an_import_is_no_reference(names, source):
    assert [name for name in names(source) if name != "k"] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from k import a\nfrom k import b as a\na", ["k.b"]),
        ("from k import a\na\na = 3\na", ["k.a"]),
        ("from k import a\nif x:\n    from k import b as a\na", []),
        ("from k import a\nif x:\n    from k import a\na", ["k.a"]),
        ("from k import a\ndef f(): return a\nfrom k import b as a", []),
        ("from k import a\ndef f():\n    global a\n    a = 3\na", []),
        ("from k import a\nfor i in x:\n    a\n    a = 3", []),
        ("from k import a\nwhile a:\n    a = a.b", []),
        ("from k import a\nif x:\n    a = 3\n    raise E\na", ["k.a"]),
        ("from k import a\nif x:\n    a = 3\nelse:\n    a = 4\na", []),
        ("a = 3\nif x:\n    from k import a\nelse:\n    from k import a\na", ["k.a"]),
        ("a = 3\nwith x:\n    from k import a\na", ["k.a"]),
        ("a = 3\ntry:\n    from k import a\nexcept E:\n    raise\na", ["k.a"]),
        ("a = 3\ntry:\n    from k import a\nexcept E:\n    pass\na", []),
        ("a = 3\ntry:\n    pass\nfinally:\n    from k import a\na", ["k.a"]),
        ("from k import a\n[a for a in a.x]", ["k.a.x"]),
        ("from k import a\nclass A:\n    a = a.b\n    c = a", ["k.a.b", "k.a.b"]),
        ("from k import a\nclass A:\n    a = 3\n    def f(self): return a", ["k.a"]),
        ("from k import a\nclass A:\n    a = 3\n    b = a", []),
        ("from k import a\na += 1\na", ["k.a"]),
        ("if x:\n    from k import a\nelse:\n    from j import a\na", []),
        ("a = b\nb = a\na.c", []),
    ],
)
def test_a_name_that_is_bound_twice_means_what_surely_reaches_the_place(names, source, expected):
    assert names(source) == expected


def test_the_outermost_attribute_is_the_node_and_its_call_is_known(parse):
    module = parse("import k\nk.ops.sum(k.ops.mean)(1).other")
    outer, inner = module.references[1:]

    assert module.source(outer.node) == "k.ops.sum"
    assert module.source(outer.call) == "k.ops.sum(k.ops.mean)"
    assert (module.source(inner.node), inner.call) == ("k.ops.mean", None)


def test_every_imported_name_is_a_reference_of_its_own(parse):
    module = parse("""
        import k.ops, os as system
        from k.layers import (Dense as D,
            Layer)
        from k.models import *
        from . import mine
        from .mine import a
    """)

    assert [(ref.name, module.source(ref.node), ref.kind) for ref in module.references] == [
        ("k.ops", "k.ops", ReferenceKind.IMPORT),
        ("os", "os as system", ReferenceKind.IMPORT),
        ("k.layers.Dense", "Dense as D", ReferenceKind.IMPORT),
        ("k.layers.Layer", "Layer", ReferenceKind.IMPORT),
        ("k.models", "*", ReferenceKind.IMPORT),
        (".mine", "mine", ReferenceKind.IMPORT),
        (".mine.a", "a", ReferenceKind.IMPORT),
    ]


def test_assignments_to_attributes_and_deletions_are_told_apart(parse):
    module = parse("import k\nk.a = 1\ndel k.b\nk.c += 1\nk.d[0] = 1\nx, k.e = y\ndel k")
    kinds = [(ref.name, ref.kind.name) for ref in module.references[1:]]

    assert kinds == [
        ("k.a", "STORE"), ("k.b", "DELETE"), ("k.c", "STORE"), ("k.d", "LOAD"), ("k.e", "STORE"),
        ("k", "DELETE"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        'import k\ndef f(x: "k.Model"): pass',
        'import k\ndef f() -> "k.Model": pass',
        'import k\nx: "k.Model"',
        'import k\nx: List["k.Model"]',
        'import k\nx: "List[k.Model]"',
        'import k\nx: Optional[Dict[str, "k.Model"]]',
        'import k\nx: "k." "Model"',
        'import k\nx: "k.Model" | None',
        "from k import Model\nx: 'Model'",
    ],
)
def test_a_string_that_is_a_type_is_read(parse, source):
    found = [ref for ref in parse(source).references if ref.kind.name == "ANNOTATION_STRING"]

    assert [ref.name for ref in found] == ["k.Model"]


@pytest.mark.parametrize(
    "source",
    [
        'import k\nx: Literal["k.Model"]',
        'import k\nx: int = "k.Model"',
        'import k\ndef f(x="k.Model"): pass',
        'import k\nx: "k.Model is no type"',
        'import k\nx: f("k.Model")',
    ],
)
def test_other_strings_are_not(names, source):
    assert names(source) == []


def test_a_star_import_binds_what_the_module_is_known_to_hold(parse):
    module = parse("from k.layers import *\nDense(3)\nsum(x)\nother(x)")
    found = [(ref.name, ref.confidence) for ref in module.references[1:]]

    assert found == [
        ("k.layers.Dense", Confidence.CERTAIN),
        ("k.layers.sum", Confidence.CERTAIN),
    ]


def test_a_star_import_of_who_knows_what_makes_earlier_stars_only_likely(parse):
    module = parse("from k.layers import *\nfrom unknown import *\nDense(3)")

    assert module.references[-1].confidence is Confidence.LIKELY


def test_an_earlier_star_binds_what_a_later_one_lost_if_it_is_the_same_thing(names):
    assert names("from k.layers import *\nfrom k.more import *\nsum(x)") == ["k.layers.sum"]
    assert names("from k.more import *\nfrom k.layers import *\nsum(x)") == ["k.layers.sum"]
    assert names("from k.layers import *\nfrom k.more import *\nLayer()") == ["k.more.Layer"]


def test_what_the_module_binds_itself_hides_an_earlier_star(names):
    assert names("from k.layers import *\nclass Dense: pass\nDense(3)") == []


def test_a_star_after_a_binding_of_one_of_its_names_makes_it_ambiguous(names):
    assert names("from j import Dense\nfrom k.layers import *\nDense(3)") == []


def test_a_star_after_a_binding_of_the_same_thing_leaves_it_what_it_was(names):
    assert names("from k.layers import Dense\nfrom k.layers import *\nDense(3)") == [
        "k.layers.Dense"
    ]


def test_qualified_follows_aliases_and_refuses_what_is_no_name(node_of):
    module, node = node_of("import k\nL = k.layers\ny = L.Dense", "L.Dense")
    assert module.qualified(node) == "k.layers.Dense"
    module, node = node_of("import k\ny = k.layers().Dense", "k.layers().Dense")
    assert module.qualified(node) is None


def test_without_any_knowledge_names_are_resolved_all_the_same(parse):
    unit = parse("import k\nk.ops.sum(x)").unit

    assert [ref.name for ref in Module.parse(unit).references] == ["k", "k.ops.sum"]


class Tree:
    """`compat` re-exports; `base` holds a class."""

    def may_hold(self, unit_path, top):
        assert unit_path == "pkg/code.py"
        return top == "pkg"

    def exports(self, unit_path, module, level, name):
        assert unit_path == "pkg/code.py"
        outside = {
            ("compat", 1, "K"): "k.ops",
            ("pkg.compat", 0, "K"): "k.ops",
            ("compat", 1, "Dense"): "k.layers.Dense",
        }
        return outside.get((module, level, name))

    def star_names(self, unit_path, module, level):
        assert unit_path == "pkg/code.py"
        return {"K", "Dense"} if (module, level) == ("compat", 1) else None


@pytest.mark.parametrize(
    "source",
    [
        "from .compat import K\nK.sum(x)",
        "from .compat import K as O\nO.sum(x)",
        "from pkg.compat import K\nK.sum(x)",
        "from . import compat\ncompat.K.sum(x)",
        "import pkg.compat as C\nC.K.sum(x)",
        "import pkg.compat\npkg.compat.K.sum(x)",
        "from .compat import *\nK.sum(x)",
        "from k import ops as K\nfrom .compat import *\nK.sum(x)",
    ],
)
def test_a_name_is_followed_through_the_modules_of_the_tree(names, source):
    assert names(source, path="pkg/code.py", package=Tree()) == ["k.ops.sum"]


def test_what_stays_inside_the_tree_keeps_its_dots(names):
    source = "from ..other import helper\nhelper.x"

    assert names(source, path="pkg/code.py", package=Tree()) == ["..other.helper.x"]
