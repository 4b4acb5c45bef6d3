"""Whose a member is: of the user's class, of the imported base, or of one of several."""

import pytest

from kdoctor.value_types import Kind
from tests.syntax.inferred import HEAD, kind_of_y


def test_the_class_is_that_of_the_user_and_the_name_that_of_the_imported_base(parse):
    module = parse(HEAD + "class A(Dense): pass\nclass B(A): pass\nB(3).y")
    owner = module.members[-1].owner

    assert (owner.kind, owner.cls, owner.qualified) == (Kind.LAYER, "B", "k.layers.Dense")


def test_of_two_classes_only_the_kind_they_share_is_kept(parse):
    owner = parse(HEAD + "m = Model() if x else Sequential()\nm.y").members[-1].owner

    assert (owner.kind, owner.cls, owner.qualified) == (Kind.MODEL, None, None)


@pytest.mark.parametrize(
    "cases",
    [
        "'c', [Dense, Layer]",
        "'n, c', [(1, Dense), [2, Layer]]",
        "'c', (pytest.param(Dense, id='d'),)",
    ],
)
def test_a_test_is_passed_what_its_decorator_lists(parse, cases):
    names = cases.split("'")[1]
    source = f"import pytest\n@pytest.mark.parametrize({cases})\ndef f({names}): c(3).y"
    assert kind_of_y(parse, source) is Kind.LAYER


@pytest.mark.parametrize(("member", "is_own"), [("own", True), ("of_b", True), ("foreign", False)])
def test_what_any_of_the_passed_classes_defines_may_be_the_users(parse, member, is_own):
    source = (
        "import pytest\nclass A(Layer):\n    own = 1\nclass B(Dense):\n    of_b = 1\n"
        f"@pytest.mark.parametrize('c', [A, B])\ndef f(c): c(3).{member}"
    )
    use = parse(HEAD + source).members[-1]
    assert (use.owner.kind, use.owner_defines) == (Kind.LAYER, is_own)


def test_type_of_answers_for_any_expression(node_of):
    module, node = node_of(HEAD + "x = [Model()]", "[Model()]")

    assert (module.type_of(node).kind, module.type_of(node).item.kind) == (Kind.LIST, Kind.MODEL)


def test_a_member_use_tells_the_owner_the_name_and_the_call(parse):
    module = parse(HEAD + "m = Model()\nm.fit(x).y\nm.z = 1\nm.layers")

    assert [
        (use.member, module.source(use.node), use.called is not None) for use in module.members
    ] == [
        ("y", "m.fit(x).y", False),
        ("fit", "m.fit", True),
        ("layers", "m.layers", False),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "class A(Model):\n    y = 3\nA().y",
        "class A(Model):\n    def y(self): pass\nA().y",
        "class A(Model):\n    def f(self): self.y = 3\nA().y",
        "class B(Model):\n    y = 3\nclass A(B): pass\nA().y",
        "class A(Model, Unknown): pass\nA().y",
        "class A(Model):\n    def __getattr__(self, n): pass\nA().y",
        "class A(Model):\n    def f(self, n): setattr(self, n, 3)\nA().y",
        "class A(Model):\n    def f(self, **n): self.__dict__.update(n)\nA().y",
        "class A(Model):\n    def f(self, **n): vars(self).update(n)\nA().y",
        "class A(Model, metaclass=M): pass\nA().y",
        "@wrapped\nclass A(Model): pass\nA().y",
        "class A(Model): pass\na = A()\na.y = 3\na.y",
        "m = Model()\nm.y = 3\nm.y",
        "m = Model()\nsetattr(m, 'y', 3)\nm.y",
        "class A(Layer): y = 3\nfor d in Model().layers: d.y",
        "class A(Layer): y = 3\ndef f(d: Layer): d.y",
        "class B(Layer):\n    def f(self): self.y\nclass A(B): y = 3",
    ],
)
def test_what_the_users_own_code_may_define_is_said(parse, source):
    use = next(use for use in parse(HEAD + source).members if use.member == "y")

    assert use.owner_defines


@pytest.mark.parametrize(
    "source",
    [
        "Model().y",
        "class A(Model): pass\nA().y",
        "class A(Model):\n    z = 3\n    def f(self): self.y",
        "class B(Model): pass\nclass A(B, object): pass\nA().y",
        "@k.register\nclass A(Model): pass\nA().y",
        "@mine.register_object\nclass A(Model): pass\nA().y",
        "@LAYERS.register('a')\nclass A(Model): pass\nA().y",
        "@keras_export('A')\nclass A(Model): pass\nA().y",
        "@gin.configurable(module='a')\nclass A(Model): pass\nA().y",
        "@six.add_metaclass(abc.ABCMeta)\nclass A(Model): pass\nA().y",
        "@deprecated\nclass A(Model): pass\nA().y",
        "class A(Layer): y = 3\nDense(3).y",
        "a = Model()\na.y = 3\nb = Model()\nb.y",
        "class A(Layer): y = 3\ndef f(m: Model): m.y",
        "class A(Model):\n    def f(self): self.d.y = 3\n    def g(self): self.y",
    ],
)
def test_what_it_cannot_define_too(parse, source):
    use = next(use for use in parse(HEAD + source).members if use.member == "y")

    assert not use.owner_defines


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(x: k.KerasTensor): x.y", Kind.TENSOR),
        ("def f() -> k.KerasTensor: return g()\nf().y", Kind.TENSOR),
        ("class A:\n    def f(self, x: k.KerasTensor): x.y", Kind.TENSOR),
        ("class A(Layer):\n    def __init__(self, x: k.KerasTensor): x.y", Kind.TENSOR),
        ("class A(Layer):\n    def f(self, d: Dense): d.y", Kind.LAYER),
        # These run with values.
        ("class A(Layer):\n    def f(self, x: k.KerasTensor): x.y", None),
        ("class B(Layer): pass\nclass A(B):\n    def f(self, x: 'k.KerasTensor'): x.y", None),
        ("class A(Model):\n    def f(self, xs: list[k.KerasTensor]): xs[0].y", None),
        ("class A(k.losses.Loss):\n    def f(self, x: k.KerasTensor | None): x.y", None),
        (
            (
                "class A(k.metrics.Metric):\n    def f(self) -> k.KerasTensor: return g()\n"
                "    def update_state(self): self.f().y"
            ),
            None,
        ),
    ],
)
def test_what_a_layer_takes_when_it_runs_has_values_whatever_it_is_annotated_with(
    parse, source, kind
):
    assert kind_of_y(parse, source) is kind


@pytest.mark.parametrize(
    ("patch", "is_own"),
    [
        ("Dense.y = own", True),
        ("Layer.y = own", True),
        ("k.layers.Layer.y = own", True),
        ("A.y = own", True),
        ("setattr(Dense, 'y', own)", True),
        ("Dense.z = own", False),
        ("Model.y = own", False),
        ("other.y = own", False),
    ],
)
def test_what_is_assigned_to_a_class_is_a_member_of_its_objects(parse, patch, is_own):
    source = f"class A(Dense): pass\n{patch}\n[A(3)][0].y"
    assert parse(HEAD + source).members[-1].owner_defines is is_own


NAMED = HEAD + "m, d = Model(), Dense(3)\nm.b\nd.a(m.b.c)\nm.a = 1\nother.a\nd.b\nd.z\nm.a\n"


@pytest.mark.parametrize("names", [("a",), ("b", "a"), ("a", "a"), ("missing", "b"), ()])
def test_members_of_some_names_are_those_of_all(parse, names):
    module = parse(NAMED)
    named = module.members_named(*names)
    assert [id(use) for use in named] == [id(use) for use in module.members if use.member in names]
    assert [module.span(use.node) for use in named] == sorted(
        module.span(use.node) for use in named
    )


def test_an_owner_is_inferred_where_its_member_is_asked_for(parse):
    asked = [
        (use.member, use.owner.kind, use.owner_defines, use.is_assigned)
        for use in parse(NAMED).members_named("a", "b")
    ]
    assert asked == [
        ("b", Kind.MODEL, False, False),
        ("a", Kind.LAYER, False, False),
        ("b", Kind.MODEL, False, False),
        ("b", Kind.LAYER, False, False),
        ("a", Kind.MODEL, True, True),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "def f(m: Layer): m.y",
        "def f(m: 'Layer'): m.y",
        "from typing import Optional\ndef f(m: Optional[Layer]): m.y",
        "from typing import List\ndef f(ms: List[Layer]):\n    for m in ms: m.y",
        "def f(m):\n    if isinstance(m, Layer): m.y",
        'def f(m):\n    """F.\n\n    m : Layer\n        It.\n    """\n    m.y',
    ],
)
def test_what_is_said_to_be_of_a_base_class_may_be_of_any_subclass(parse, source):
    (owner,) = (use.owner for use in parse(HEAD + source).members if use.member == "y")
    assert owner.kind is Kind.LAYER
    assert owner.cls is None
    assert owner.qualified is None


def test_what_is_said_to_be_of_another_class_is_of_that_class(parse):
    (owner,) = (use.owner for use in parse(HEAD + "def f(m: Dense): m.y").members)
    assert owner.cls == "Dense"
