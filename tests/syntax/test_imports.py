"""What those who change import lines need to know."""

import pytest


def imported(parse, source, local, **options):
    module = parse(source, **options)
    return module, next(each for each in module.imports if each.local == local)


def test_an_import_tells_its_local_name_its_meaning_and_its_statement(parse):
    module = parse("import k.ops\nimport k.ops as o\nfrom k import a as b\nfrom k.c import *")

    assert [(each.local, each.name, each.imported) for each in module.imports] == [
        ("k", "k", "k.ops"),
        ("o", "k.ops", "k.ops"),
        ("b", "k.a", "k.a"),
        ("*", "k.c", "k.c"),
    ]
    assert module.source(module.imports[2].statement) == "from k import a as b"
    assert module.imports[3].alias is None


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("import k\nk.a\nf(k)\nk.b = 1\ndel k", 4),
        ("import k\ndef f(): return k", 1),
        ("import k\ndef f(k): return k", 0),
        ("import k\nx: 'k.A'", 1),
        ("import k.a\nimport k.b\nk.b.c", 1),
        ("import k\nif x: k = 3\nk.a", 1),
        ("import k\nk = 3\nk.a", 0),
        ("def f():\n    global k\n    import k\ndef g(): return k.a", 1),
        ("import k\nk += 1", 1),
        ("import k\n__all__ = ['k']", 0),
    ],
)
def test_all_that_may_read_an_import_is_a_use_of_it(parse, source, uses):
    module, binding = imported(parse, source, "k")

    assert len(module.uses_of(binding)) == uses


def test_the_uses_of_a_star_are_what_it_is_known_to_bind(parse):
    module, binding = imported(parse, "from k.layers import *\nDense(3)\nother()", "*")

    assert [module.source(node) for node in module.uses_of(binding)] == ["Dense"]


@pytest.mark.parametrize(
    "source",
    [
        "import k\n__all__ = ['k']",
        "import k\n__all__ = ('a', 'k')",
        "import k\n__all__ = ['a']\n__all__ += ['k']",
        "import k\n__all__ = ['a'] + ['k']",
        "import k\n__all__ = []\n__all__.extend(['k'])",
        "import k\n__all__ = []\n__all__.append('k')",
        "import k as k",
        "from j import k as k",
    ],
)
def test_what_others_may_import_from_here_is_exported(parse, source):
    assert imported(parse, source, "k")[1].exported


def test_everything_in_an_init_file_is_exported(parse):
    assert imported(parse, "import k", "k", path="pkg/__init__.py")[1].exported


@pytest.mark.parametrize(
    "source", ["import k", "import j as k", "def f():\n    import k as k", "import k\nx = ['k']"]
)
def test_nothing_else_is(parse, source):
    assert not imported(parse, source, "k")[1].exported


@pytest.mark.parametrize(
    ("source", "free"),
    [
        ("HERE", True),
        ("def f(): HERE", True),
        ("import z\nHERE", False),
        ("def z(): HERE", False),
        ("def f(z): HERE", False),
        ("def f():\n    z = 3\n    HERE", False),
        ("def f(z): pass\nHERE", True),
        ("def f():\n    global z\n    z = 3\nHERE", False),
        ("[HERE for z in x]", False),
        ("[z for z in HERE]", True),
        ("[y for y in x]\nHERE", True),
        ("lambda z: HERE", False),
        ("def f(z=HERE): pass", True),
        ("class A:\n    z = 3\n    HERE", False),
        ("class A:\n    z = 3\n    def f(self): HERE", True),
        ("z\nHERE", False),
        ("x: 'z'\nHERE", False),
        ("HERE.z", True),
    ],
)
def test_a_name_is_free_where_nothing_else_has_it(node_of, source, free):
    module, here = node_of(source, "HERE")

    assert module.is_free("z", [here]) is free


def test_a_name_that_a_star_may_bind_is_not_free(node_of):
    module, here = node_of("from k.layers import *\nHERE", "HERE")

    assert not module.is_free("Dense", [here])
    assert module.is_free("ops", [here])


def test_the_scope_of_an_import_is_known(parse):
    module = parse("import a\ndef f():\n    import b")

    assert [each.scope.kind.name for each in module.imports] == ["MODULE", "FUNCTION"]
