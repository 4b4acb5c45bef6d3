"""Programs that grow: one construct of Python again and again, with Keras calls in it."""

from __future__ import annotations

import json
from collections.abc import Callable

Files = dict[str, str]

HEAD = (
    "import keras\nimport tensorflow as tf\nfrom keras import backend as K\nfrom keras import layers\n"
    "from keras.layers import Dense, Input\nfrom keras.models import Model, Sequential\n\n"
)
X = "x = Input((3, 3, 3, 3))\n"
CHOICE = "if K.ndim(x) > 2:\n    x = K.abs(x)\nelse:\n    x = K.mean(x, axis=0)\n"


def again(part: str, count: int) -> str:
    """Return a part for each number: ``$i`` is it, ``$p`` and ``$pp`` are those before."""
    return "".join(
        part.replace("$i", str(n)).replace("$pp", str(max(n - 2, 0))).replace("$p", str(n - 1))
        for n in range(1, count + 1)
    )


def indented(text: str, by: int = 4) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def nested(part: str, count: int, *, most: int = 18) -> str:
    """Return a part in itself, no deeper than Python takes it."""
    return "".join(indented(part.replace("$i", str(n)), 4 * n) for n in range(min(count, most)))


# What stands before, what is there again and again, and what stands behind.
REPEATED: dict[str, tuple[str, str, str]] = {
    "conditionals": (X, f"x = K.sum(x, axis=-1)\n{CHOICE}", ""),
    "conditionals of two names": (
        f"{X}y = x\n",
        "if K.ndim(x) > 2:\n    x = K.abs(y)\nelse:\n    y = K.mean(x, axis=0)\n",
        "",
    ),
    "elifs": (
        f"{X}if K.ndim(x) == 0:\n    x = K.abs(x)\n",
        "elif K.ndim(x) == $i:\n    x = K.sum(x, axis=$i)\n",
        "",
    ),
    "loops": (X, "for i in range(3):\n    x = K.sum(x, axis=i)\n    y = K.mean(x)\n", ""),
    "while loops": (
        X,
        ("while K.ndim(x) > 1:\n    x = K.sum(x, axis=-1)\n    if x is None:\n        break\n"
        "else:\n    x = K.abs(x)\n"),
        "",
    ),
    "tries": (
        X,
        ("try:\n    x = K.sum(x, axis=-1)\nexcept ValueError:\n    x = K.abs(x)\n"
        "else:\n    x = K.mean(x)\nfinally:\n    y = K.exp(x)\n"),
        "",
    ),
    "reassignments": (X, "x = K.sum(K.abs(x), axis=-1)\n", ""),
    "names of each other": (f"{X}y = x\n", "x, y = K.sum(y), K.mean(x)\n", ""),
    "chains of names": ("x0 = Input((3,))\n", "x$i = K.sqrt(x$p + K.mean(x$pp))\n", ""),
    "sums of one shape": (
        "x0 = Input((3,))\n",
        "x$i = x$p + x$p\nK.binary_crossentropy(x$i, x$i * 2)\n",
        "",
    ),
    "ternaries": (
        X,
        "y = K.abs(x) if K.ndim(x) > 2 else K.mean(x, axis=0)\nx = K.sum(y) if x is None else y\n",
        "",
    ),
    "subclasses": (
        "class A0(keras.layers.Layer):\n    pass\n",
        ("class A$i(A$p):\n    def call(self, x):\n"
        "        self.add_loss(K.mean(super().call(x)))\n        return K.sum(self.w)\n"),
        "",
    ),
    "diamonds": (
        "class A0(keras.layers.Layer):\n    pass\nclass B0(keras.layers.Layer):\n    pass\n",
        ("class A$i(A$p, B$p):\n    def call(self, x):\n        return K.sum(self.w)\n"
        "class B$i(B$p, A$p):\n    pass\n"),
        "",
    ),
    "classes": (
        "",
        ("class A$i(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.d = Dense(3)\n    def build(self, s):\n"
        "        self.w = self.add_weight('w', s)\n    def call(self, x):\n"
        "        return self.d(K.sum(x)) + self.w\n"),
        "",
    ),
    "methods": (
        "class A(keras.layers.Layer):\n    def f0(self, x):\n        return K.sum(x)\n",
        "    def f$i(self, x):\n        return self.f$p(K.sum(x)) + self.f$pp(x)\n",
        "",
    ),
    "decorators": ("def d(f):\n    return f\n", "@d\n@tf.function\n", "def f(x):\n    K.sum(x)\n"),
    "decorated functions": ("def d(f):\n    return f\n", "@d\ndef f$i(x):\n    K.sum(x)\n", ""),
    "comprehensions": (X, "x = [K.sum(y) for y in [K.abs(z) for z in x]]\n", ""),
    "with": (X, "with K.name_scope('a') as s:\n    x = K.sum(x, axis=-1)\n", ""),
    "match": (
        X,
        "match K.ndim(x):\n    case 1:\n        x = K.sum(x)\n    case y:\n        x = K.abs(x)\n",
        "",
    ),
    "cases": (f"{X}match K.ndim(x):\n", "    case $i:\n        x = K.sum(x)\n", ""),
    "closures": ("def f(x):\n", "    def g$i(y):\n        return K.sum(y) + x\n    x = g$i(x)\n", ""),
    "lambdas": (X, "f$i = lambda x: K.sum(x)\nx = layers.Lambda(lambda x: f$i(x))(x)\n", ""),
    "augmented assignments": (X, "if K.ndim(x):\n    x += K.sum(x)\nelse:\n    x *= K.mean(x)\n", ""),
    "attributes of attributes": (
        "class A(keras.Model):\n    def __init__(self):\n        self.a0 = Dense(3)\n",
        "        self.a$i = self.a$p\n        self.a$i(K.sum(self.a$p))\n",
        "",
    ),
    "stores of one attribute": (
        "class A(keras.layers.Layer):\n    def call(self, x):\n        self.x = x\n",
        "        self.x = K.sum(self.x)\n",
        "",
    ),
    "entries of a dict": (f"{X}d = {{", "'a$i': K.sum(x), ", "}\n"),
    "stores in a dict": (f"{X}d = {{}}\n", "d['a$i'] = K.sum(d['a$p'])\n", ""),
    "elements of a list": (f"{X}y = [", "K.sum(x), ", "]\nK.stack(y)\n"),
    "results in a list": (
        "def f(model: Sequential):\n    found = []\n",
        "    found.append(model.predict_classes($i))\n",
        "",
    ),
    "appended elements": (
        f"{X}y = []\n",
        "if K.ndim(x):\n    y.append(K.sum(x))\nelse:\n    y += [K.mean(y[0])]\n",
        "K.stack(y)\n",
    ),
    "conditions of a version": (
        f"IS = keras.__version__ >= '3'\n{X}",
        "if IS:\n    x = keras.ops.sum(x)\nelse:\n    x = K.sum(x)\n",
        "",
    ),
    "flags of flags": (
        "F0 = keras.__version__ >= '3'\n",
        "F$i = F$p and not F$pp\nif F$i:\n    K.sum(1)\n",
        "",
    ),
    "early returns": ("def f(x):\n", "    if K.ndim(x) == 1:\n        return K.sum(x)\n", ""),
    "strings": ("p0 = 'a'\n", "p$i = p$p + p$p\nSequential().save(p$i + '.h5')\n", ""),
    "lists of lists": ("p0 = [Dense(3)]\n", "p$i = p$p + [p$p, p$p]\nSequential(p$i)\n", ""),
    "functions": ("", "def f$i(x):\n    y = K.sum(x)\n    return K.mean(y)\n\n", ""),
    "functions of each other": (
        "def f0(x):\n    return K.sum(x)\n",
        "def f$i(x):\n    return f$p(K.sum(x)) + f$pp(x)\n",
        "",
    ),
    "calls of one function": ("def f(x, y):\n    return K.sum(x)\n" + X, "x = f(x, K.abs(x))\n", ""),
    "layers": (X, "x = Dense(3, init='uniform')(x)\n", "Model(input=x, output=x)\n"),
    "layers in branches": (
        X,
        ("if K.ndim(x) > 2:\n    x = Dense(3, output_dim=3)(x)\n"
        "else:\n    x = layers.Conv2D(3, 3, border_mode='same')(x)\n"),
        "",
    ),
    "optimizers": ("o = keras.optimizers.SGD(lr=.1)\n", "o.lr = K.get_value(o.lr) * 2\n", ""),
    "imports": ("", "from keras import backend as K$i\nK$i.sum(1)\n", ""),
    "imports of one name": ("", "from keras import backend as K\nK.sum(1)\n", ""),
    "imports in functions": ("", "def f$i(x):\n    from keras import backend as B\n    B.sum(x)\n", ""),
    "aliases": ("K0 = K\n", "K$i = K$p\nK$i.sum(1)\n", ""),
    "globals": ("x = None\n", "def f$i():\n    global x\n    x = K.sum(x)\n", ""),
    "comments": ("", "K.sum(1)  # kdoctor: ignore[KD101]\nK.sum(2)  # TODO\n", ""),
    "statements": ("", "K.sum(K.abs([1]))\n", ""),
    "imports in tries": (
        "",
        ("try:\n    from keras import backend as K$i\nexcept ImportError:\n    K$i = None\n"
        "K$i.sum(1)\n"),
        "",
    ),
    "imports in conditionals": (
        "IS = keras.__version__ >= '3'\n",
        "if IS:\n    from keras import ops as B$i\nelse:\n    from keras import backend as B$i\nB$i.sum(1)\n",
        "",
    ),
    "models of each other": (
        "class A0(keras.Model):\n    pass\n",
        ("class A$i(A$p):\n    @property\n    def metrics(self):\n        return []\n"
        "    def train_step(self, x):\n        return K.sum(self.compiled_loss(x, x))\n"),
        "",
    ),
    "lines left alone": ("", "K.sum([$i])\nleft$i = $i\n", ""),
    "equal lines left alone": ("", "K.sum([1])\nleft = 1\n", ""),
    "partials": (
        "from functools import partial\np0 = partial(Dense, 3)\n",
        "p$i = partial(p$p, activation='relu')\nK.sum(p$i()(1))\n",
        "",
    ),
    "properties": (
        "class A(keras.Model):\n    @property\n    def p0(self):\n        return Dense(3)\n",
        "    @property\n    def p$i(self):\n        return K.sum(self.p$p or self.p$pp)\n",
        "",
    ),
    "elements on lines": (f"{X}y = [\n", "    lambda x: K.sum(x),\n", "]\n"),
    "layers on lines": (
        "Sequential([\n", "    Dense($i,\n          init='uniform'),\n", "])\n",
    ),
    "generators": (X, "y = sum(K.sum(z) for z in x)\n", ""),
    "walrus": (X, "if (y := K.sum(x)) is not None and (z := K.mean(y)):\n    x = K.abs(z)\n", ""),
    "reads of a shape": (X, "x = K.shape(x)[$i]\ny = K.int_shape(x)[1:][0]\n", ""),
    "statements of one line": (X, "x = K.sum(x); ", "\n"),
    "elements of an f-string": (f"{X}y = f'", "{K.sum(x)} ", "'\n"),
    "layers of one model": ("m = Sequential()\n", "m.add(Dense(3, init='uniform'))\n", ""),
    "elifs that return": (
        "def f(x):\n    if x == 'a':\n        return K.sum(1)\n",
        "    elif x == 'a$i':\n        return Dense($i, init='uniform')\n",
        "",
    ),
}  # fmt: skip

NESTED: dict[str, Callable[[int], str]] = {
    "conditionals in each other": lambda n: X + nested("if K.ndim(x) > $i:\n    x = K.sum(x)\n", n),
    "loops in each other": lambda n: X + nested("for i in x:\n    x = K.sum(x)\n", n),
    "with in each other": lambda n: X + nested("with K.name_scope('a'):\n    x = K.sum(x)\n", n),
    "functions in each other": lambda n: nested("def f$i(x$i):\n    K.sum(x$i)\n", n),
    "calls in each other": lambda n: f"{X}{'K.sum(' * min(n, 60)}x{')' * min(n, 60)}\n",
    "ternaries in each other": lambda n: (
        f"{X}y = {'K.abs(x) if K.ndim(x) == 3 else (' * min(n, 60)}x{')' * min(n, 60)}\n"
    ),
    "a chain of calls": lambda n: f"{X}K.sum(x){'.a(K.sum(x))' * min(n, 100)}\n",
    "a chain of attributes": lambda n: f"Sequential(){'.layers' * n}.lr = K.sum(1)\n",
    "conditions of a shape": lambda n: (
        f"{X}if {' or '.join(f'K.ndim(x) == {i}' for i in range(n))}:\n    K.sum(x)\n"
    ),
    "assignments in a condition": lambda n: (
        f"{X}if {' and '.join(f'(y{i} := K.sum(x))' for i in range(n))}:\n    K.abs(y0)\n"
    ),
    "clauses of a comprehension": lambda n: (
        f"{X}y = [K.sum(x){''.join(f' for z{i} in x if z{i}' for i in range(min(n, 60)))}]\n"
    ),
    "lambdas in each other": lambda n: (
        f"{X}y = {''.join(f'lambda a{i}: ' for i in range(min(n, 80)))}K.sum(a0)\n"
    ),
    "a boolean operation": lambda n: f"{X}y = {' and '.join(['x'] * n)} and K.sum(x)\n",
    "a sum": lambda n: f"{X}y = {' + '.join(['x'] * n)} + K.sum(x)\n",
    "a concatenation": lambda n: f"Sequential().save({' + '.join(['p'] * n)} + '.h5')\n",
    "flags in a ring": lambda n: (
        "def f(x):\n    while x:\n"
        + "".join(
            f"        F{i} = {' and '.join(f'F{j}' for j in range(min(n, 12)) if j != i)} and x\n"
            f"        if F{i}:\n            K.sum(x)\n"
            for i in range(min(n, 12))
        )
    ),
}

TREES: dict[str, Callable[[int], Files]] = {
    "files": lambda n: {f"own{i}.py": f"{HEAD}K.sum(1)\n" for i in range(n)},
    "imports in a ring": lambda n: {
        f"own{i}.py": f"import keras\nfrom own{(i + 1) % n} import K as B\n"
        "from keras import backend as K\nK.sum(1)\nB.sum(1)\n"
        for i in range(n)
    },
    "one name in a ring": lambda n: {
        f"own{i}.py": f"import keras\nfrom own{(i + 1) % n} import K\nK.sum(1)\n" for i in range(n)
    },
    "star imports": lambda n: {
        **{f"own{i}.py": f"from keras import backend as K{i}\n" for i in range(n)},
        "own.py": "".join(f"from own{i} import *\nK{i}.sum(1)\n" for i in range(n)),
    },
    "star imports in a ring": lambda n: {
        f"own{i}.py": f"from own{(i + 1) % n} import *\nfrom keras import backend as K{i}\n"
        f"K{i}.sum(1)\nK{(i + 3) % n}.sum(1)\n"
        for i in range(n)
    },
    "packages that hand on": lambda n: {
        **{
            f"own{i}/__init__.py": f"from own{i + 1} import *\n"
            if i + 1 < n
            else "from keras import backend as K\n"
            for i in range(n)
        },
        **{f"own{i}/part.py": f"from own{i} import K\nK.sum(1)\n" for i in range(n)},
    },
    "star imports in a chain": lambda n: {
        **{f"own{i}.py": f"from own{i - 1} import *\nimport keras\n" for i in range(1, n)},
        "own0.py": "from keras import backend as K\n",
        "own.py": f"from own{n - 1} import *\nK.sum(1)\n",
    },
    "subclasses in files": lambda n: {
        **{
            f"own{i}.py": f"from keras import backend as K\nfrom own{i - 1} import A{i - 1}\n"
            f"class A{i}(A{i - 1}):\n    def call(self, x):\n        return K.sum(x)\n"
            for i in range(1, n)
        },
        "own0.py": f"{HEAD}class A0(keras.layers.Layer):\n    pass\n",
    },
    "cells": lambda n: {
        "own.ipynb": json.dumps({
            "cells": [
                {
                    "cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [],
                    "source": f"{HEAD if not i else ''}x = K.sum(1)\n",
                }
                for i in range(n)
            ],
            "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
        })
    },
    "magics of cells": lambda n: {
        "own.ipynb": json.dumps({
            "cells": [
                {
                    "cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [],
                    "source": f"{HEAD if not i else ''}%time x = K.sum(1)\n!ls\nx = K.sum(2)\n",
                }
                for i in range(n)
            ],
            "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
        })
    },
    "functions in a ring": lambda n: {
        f"own{i}.py": f"from keras import backend as K\nfrom own{(i + 1) % n} import f{(i + 1) % n}\n"
        f"def f{i}(x):\n    return f{(i + 1) % n}(K.sum(x))\n"
        for i in range(n)
    },
    "sessions of a fence": lambda n: {
        "own.md": "```pycon\n>>> from keras import backend as K\n" + ">>> K.sum(1)\n3\n" * n + "```\n"
    },
    "fences": lambda n: {"own.md": "```python\nfrom keras import backend as K\nK.sum(1)\n```\n\n" * n},
}  # fmt: skip


def grown(name: str, size: int) -> Files:
    """Return the files of a program that has a construct so many times."""
    if name in TREES:
        return TREES[name](size)
    if name in NESTED:
        return {"own.py": HEAD + NESTED[name](size)}
    first, part, last = REPEATED[name]
    return {"own.py": HEAD + first + again(part, size) + last}


NAMES = (*REPEATED, *NESTED, *TREES)
