"""Code for several targets: what breaks on any is reported, and only fixes for all are offered."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan
from kdoctor.errors import UsageProblem
from kdoctor.keras_api import resolve_targets
from kdoctor.model import Applicability

BOTH = "keras==2.15,keras==3.15.1"


def found(code, **options):
    """Return the finding's by line."""
    options = {"target": BOTH, **options}
    result = scan(["-"], stdin=code.encode(), **options)
    assert not result.unreadable
    return {each.place.line: each for each in result.findings}


def fixed(code, **options):
    options = {"target": BOTH, "unsafe": True, **options}
    result = fix(["-"], stdin=code.encode(), **options)
    return result.files[0].after.decode() if result.files else code


def test_the_newest_is_the_target_and_the_others_stand_beside_it():
    target = resolve_targets(["keras==2.15", "keras==3.15.1", "keras==2.15"], "--target")
    assert (str(target), list(map(str, target.beside))) == ("keras 3.15.1", ["keras 2.15.0"])
    assert resolve_targets("keras==3.15.1, keras==2.15", "--target") == target
    assert resolve_targets("keras==3.15.1", "--target").beside == ()


@pytest.mark.parametrize("spec", ["", "keras==2.15,", "keras==2.15,pandas==1"])
def test_each_of_them_must_be_a_keras(spec):
    with pytest.raises(UsageProblem):
        scan(["-"], stdin=b"import keras\n", target=spec)


GONE_ON_3 = "from keras import backend as K\n\n\ndef f(x):\n    return K.sum(x)\n"
NEW_ON_3 = "import keras\n\n\ndef f(x):\n    return keras.ops.sum(x)\n"


def test_a_finding_says_on_which_of_them_it_is_one():
    (told,) = found(GONE_ON_3).values()
    assert told.message.endswith("(on keras 3.15.1)")
    (told,) = found(NEW_ON_3).values()
    assert told.message.endswith("(on keras 2.15.0)")
    assert found(NEW_ON_3, target="keras==3.15.1") == {}
    (told,) = found("from keras.utils import np_utils\nnp_utils.to_categorical([1])\n").values()
    assert "(on" not in told.message


def test_a_fix_with_a_name_that_one_of_them_lacks_is_not_offered():
    (told,) = found(GONE_ON_3).values()
    assert told.fix is None
    assert told.no_fix_because == (
        "on keras 2.15.0, `keras.ops` does not exist yet (first in keras 3.0.0)"
    )
    assert fixed(GONE_ON_3) == GONE_ON_3
    assert "ops.sum" in fixed(GONE_ON_3, target="keras==3.15.1")


def test_the_same_is_said_where_no_edits_are_asked_for():
    (told,) = found(GONE_ON_3, edits=False, diffs=False).values()
    assert told.fix is None
    code = "from keras.layers.merge import concatenate\nconcatenate([1, 2])\n"
    (told,) = found(code, edits=False).values()
    assert told.fix is not None
    assert told.fix.edits == ()


SHARED = [
    (
        "from keras.layers.merge import concatenate\nconcatenate([1, 2])\n",
        "from keras.layers import concatenate\nconcatenate([1, 2])\n",
    ),
    (
        "import keras\nopt = keras.optimizers.Adam(lr=0.1)\n",
        "import keras\nopt = keras.optimizers.Adam(learning_rate=0.1)\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), SHARED)
def test_what_all_of_them_have_is_written(before, after):
    assert fixed(before) == after
    assert found(after) == {}


TRUSTED = (
    "import keras\nmodel = keras.Sequential([keras.layers.Lambda(lambda y: y * 2)])\n"
    "model.save('a.h5')\nagain = keras.models.load_model('a.h5')\n"
)


def test_a_fix_with_a_keyword_that_one_of_them_lacks_is_not_offered():
    told = found(TRUSTED, target="keras==2.10,keras==3.15.1", select=["KD608"])[4]
    assert told.no_fix_because == ("on keras 2.10.0, `keras.models.load_model` has no `safe_mode`")
    told = found(TRUSTED, select=["KD608"])[4]
    assert told.fix is not None, "keras 2.15 has it"


def test_what_was_proven_for_one_of_them_alone_is_unsafe():
    (told,) = found(SHARED[1][0]).values()
    assert told.fix.applicability is Applicability.UNSAFE
    assert told.fix.unsafe_because == (
        "no run has shown that the new code does the same on keras 2.15.0"
    )
    (told,) = found(SHARED[0][0]).values()
    assert told.fix.applicability is Applicability.SAFE, "it is one on both of them"


def test_branches_for_each_of_them_stay():
    code = (
        "import keras\nfrom keras import backend as K\n\n\ndef f(x):\n"
        '    if keras.__version__ < "3":\n        return K.sum(x)\n    return keras.ops.sum(x)\n'
    )
    assert found(code) == {}
    assert fixed(code) == code


def test_a_comment_that_silences_for_one_of_them_is_of_use():
    code = GONE_ON_3.replace("K.sum(x)\n", "K.sum(x)  # kdoctor: ignore[KD101]\n")
    assert found(code) == {}
    assert len(scan(["-"], stdin=code.encode(), target=BOTH).suppressed) == 1
    code = NEW_ON_3.replace("sum(x)\n", "sum(x)  # kdoctor: ignore[KD102]\n")
    assert found(code) == {}, "it silences what Keras 2 alone has"
    needless = found("import keras  # kdoctor: ignore[KD101]\n")
    assert [each.code for each in needless.values()] == ["KD901"]


def test_a_pin_of_one_of_them_is_not_written_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "requirements.txt").write_text("keras==2.15\ntensorflow\n")
    (tmp_path / "kdoctor.toml").write_text('target = ["keras==2.15", "keras==3.15.1"]\n')
    (told,) = scan(["."], jobs=1).findings
    assert told.message.endswith("(on keras 3.15.1)")
    assert told.no_fix_because == "keras 2.15.0 is to be installed as well"


def test_a_setting_with_a_list_is_as_the_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(GONE_ON_3)
    (tmp_path / "kdoctor.toml").write_text('target = ["keras==2.15", "keras==3.15.1"]\n')
    by_setting = scan(["a.py"], jobs=1)
    by_option = scan(["a.py"], jobs=1, target=BOTH)
    assert by_setting.findings == by_option.findings
    assert by_setting.target.as_examined == by_option.target.as_examined
    (tmp_path / "kdoctor.toml").write_text("target = 3\n")
    with pytest.raises(UsageProblem, match="target must be a string or a list of strings"):
        scan(["a.py"], jobs=1)


def test_the_cache_keeps_them_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text(GONE_ON_3)
    told = [
        scan(["a.py"], jobs=1, cache=True, target=target).findings[0].no_fix_because
        for target in (BOTH, "keras==3.15.1", BOTH)
    ]
    assert told[1] is None
    assert told[0] == told[2] is not None
