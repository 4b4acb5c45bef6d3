"""Keras modules that a star import used to bring in: `K` after `from keras.layers import *`.

## What it does
Reports a name that nothing in the file binds, where a star import from Keras once bound it to a
module of Keras: `K`, `regularizers`, `optimizers`.

## Why it breaks
Up to Keras 2.2 or 2.3 a module such as `keras.layers` imported other modules, and a star import
exported them, too. Keras 3 lists its exports: `NameError: name 'K' is not defined` when the line
runs.

## What to write instead
An import of the module: `from keras import backend as K`. Names that the module itself has lost are
separate findings.

## How we know
The contents of a module in each release are read from its wheel. A file with another star import
whose names are unknown is not reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api import EntryKind, Lookup, Presence, oracle, split_root
from kdoctor.model import Confidence, Finding, ImportNeed, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such name once, where it is first read."""
    stars = [each.imported for each in module.imports if each.local == "*"]
    if any(split_root(star) is None for star in stars):
        return
    for name, (star, home) in _brought(stars, module.unbound_reads, facts).items():
        node = module.unbound_reads[name]
        if module.is_guarded(node):
            continue
        until = facts.lookup(f"{star}.{name}").periods[-1][1]
        parent, _, leaf = home.rpartition(".")
        yield rule.finding(
            module.place(node),
            f"`from {star} import *` brought in `{name}` up to Keras {until}: NameError: name "
            f"'{name}' is not defined",
            symbol=home,
            confidence=Confidence.CERTAIN,
            help=f"Import `{home}`{'' if leaf == name else f' as `{name}`'}.",
            fix=rule.fix(
                f"Import `{home}`{'' if leaf == name else f' as `{name}`'}",
                imports=(ImportNeed(parent, leaf, name),),
            ),
        )


def _brought(
    stars: list[str], names: Collection[str], facts: TargetFacts
) -> Mapping[str, tuple[str, str]]:
    """Return the modules that star imports bring no more, by name: of which star, and what."""
    known = oracle(facts.target)
    found: dict[str, tuple[str, str]] = {}
    for star in stars:
        for name, home in known.star_modules(star).items():
            if name in names and _is_module(facts.lookup(home)):
                found[name] = star, home
    return {
        name: each
        for name, each in found.items()
        if all(facts.lookup(f"{star}.{name}").presence is Presence.MISSING for star in stars)
    }


def _is_module(found: Lookup) -> bool:
    return found.presence is Presence.EXISTS and found.kind is EntryKind.MODULE


def _may_lack(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether a name is read that a star import may have brought."""
    known = oracle(facts.target)
    return any(not quick.words.isdisjoint(known.star_modules(star)) for star in quick.star_modules)


rule = Rule(
    code="KD108",
    name="module-by-star",
    family="names",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_lack),
    since="3.0",
)

VALID = [
    # Bound by what the file says itself.
    "from keras.layers import *\nfrom keras import backend as K\n\nK.epsilon()",
    "from keras.layers import *\n\n\ndef scaled(x, K):\n    return x * K",
    "from keras.layers import *\n\nfor K in range(3):\n    print(K)",
    # Goes without it where it is not there.
    "from keras.layers import *\n\ntry:\n    K.clear_session()\nexcept NameError:\n    pass",
    # Who knows what the other star brings in.
    "from keras.layers import *\nfrom mine import *\n\nK.epsilon()",
    # No release of `tf.keras` had it there.
    "from tensorflow.keras.layers import *\n\nK.epsilon()",
]
INVALID = [
    Example(
        before="from keras.layers import *\n\nx = Input((3,))\nsmall = K.epsilon()\n",
        after="from keras import backend as K\nfrom keras.layers import *\n\n"
        "x = Input((3,))\nsmall = K.epsilon()\n",
        raises="NameError: name 'K' is not defined",
        check="assert small == 1e-7",
    ),
    Example(
        before="from keras.models import *\nfrom keras.layers import *\n\n"
        "layer = Dense(2, kernel_regularizer=regularizers.l2(0.5))\n",
        after="from keras.models import *\nfrom keras import regularizers\n"
        "from keras.layers import *\n\n"
        "layer = Dense(2, kernel_regularizer=regularizers.l2(0.5))\n",
        raises="NameError: name 'regularizers' is not defined",
        check="assert layer.kernel_regularizer.l2 == 0.5",
    ),
]
