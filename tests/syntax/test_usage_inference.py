"""What is compiled is a model of Keras, but not where the project may have taken another Keras."""

import pytest

from kdoctor.engine import scan

CHOOSES = (
    "import tensorflow as tf\n\nif tf.keras.__version__.startswith('3.'):\n"
    "    import tf_keras as keras\nelse:\n    keras = tf.keras\n"
)
RETURNS = "import tensorflow as tf\n\n\ndef get():\n    return tf.keras\n\n\nkeras = get()\n"
LATER = (
    "def make():\n    import tf_keras\n\n    layer = tf_keras.layers.Dense(3, input_shape=(2,))\n"
    "    return tf_keras.Sequential([layer])\n"
)
COMPILED = "model.compile(loss='mse', optimizer='sgd')\nmodel.input.get_shape().as_list()\n"
USE = f"import tensorflow as tf\n{{}}\n{COMPILED}print(tf.keras.layers.Dense)\n"


@pytest.fixture
def codes(tmp_path):
    def codes(use, **modules):
        (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
        (tmp_path / "pk").mkdir()
        (tmp_path / "pk/__init__.py").write_text("")
        for name, source in modules.items():
            (tmp_path / f"pk/{name}.py").write_text(source)
        (tmp_path / "pk/use.py").write_text(use)
        return [
            each.code for each in scan([str(tmp_path / "pk/use.py")], select=["KD207"]).findings
        ]

    return codes


@pytest.mark.parametrize("compat", [CHOOSES, RETURNS])
@pytest.mark.parametrize(
    "use",
    [
        "from pk.compat import keras\n\nmodel = keras.Sequential()",
        "from .compat import keras\n\nmodel = keras.models.Sequential()",
        "from pk import compat as C\n\nmodel = C.keras.Sequential()",
        "from pk.compat import keras\nfrom pk.nets import make\n\nmodel = make(keras.layers.Dense(3))",
    ],
)
def test_a_model_of_a_keras_that_the_project_chose_may_be_any(codes, compat, use):
    assert not codes(USE.format(use), compat=compat, nets="def make(x):\n    return x\n")


@pytest.mark.parametrize(
    "use", ["from pk.nets import make", "from .nets import make", "import pk.nets"]
)
def test_what_a_module_made_that_imports_tf_keras_is_of_tf_keras(codes, use):
    called = "pk.nets.make" if use == "import pk.nets" else "make"
    assert not codes(USE.format(f"{use}\n\nmodel = {called}()"), nets=LATER)


@pytest.mark.parametrize(
    ("compat", "use"),
    [
        ("from tensorflow import keras", "from pk.compat import keras, make\n\nmodel = make()"),
        ("# Not tf_keras.\n", "from pk.compat import make\n\nmodel = make()"),
        ("class Dense:\n    pass\n", "from pk.compat import Dense\n\nmodel = Dense().make()"),
        ("try:\n    import keras\nexcept ImportError:\n    from tensorflow import keras\n",
         "from pk.compat import keras\n\nmodel = keras.made()"),
    ],
)  # fmt: skip
def test_any_other_model_that_is_compiled_is_of_keras(codes, compat, use):
    assert codes(USE.format(use), compat=compat) == ["KD207"]


MADE = "from keras.optimizers import Adam\nfrom keras.losses import Huber\n"
READ = "\nmodel.input.get_shape().as_list()\n"


@pytest.mark.parametrize(
    "compiled",
    [
        "model.compile(Adam(0.001), 'mse', metrics=['mae'])",
        "model.compile(Adam(0.001), Huber())",
        "best = Adam(0.001)\nmodel.compile(best, custom_loss)",
        "if fast:\n    how = Adam(0.1)\nelse:\n    how = Adam()\nmodel.compile(how, 'mse', ['mae'])",
    ],
)
def test_what_is_compiled_with_an_optimizer_and_a_loss_is_a_model(codes, compiled):
    assert codes(f"{MADE}from nets import UNET\n\nmodel = UNET(3)\n{compiled}{READ}") == ["KD207"]


@pytest.mark.parametrize(
    "compiled",
    [
        # As agents are compiled.
        "model.compile(Adam(0.001), metrics=['mae'])",
        "model.compile(Adam(0.001), ['mae'])",
        "metrics = ['mae']\nmodel.compile(Adam(0.001), metrics)",
        "model.compile([Adam(), Adam()], 'mse')",
        "model.compile('adam', 'mse')",
        "model.compile(Adam(), Adam(), 'mse')",
        "model.compile(how, 'mse')",
    ],
)
def test_what_is_compiled_in_another_way_may_be_anything(codes, compiled):
    assert not codes(f"{MADE}from nets import UNET\n\nmodel = UNET(3)\n{compiled}{READ}")


KEEPS = """\
import keras


class Worker:
    def __init__(self, model, loss):
        self.model = {kept}
        self.shape = model.input.get_shape().as_list()

    def begin(self, {other}):
        {more}
        self.model.compile(optimizer='sgd', loss='mse')
"""


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    ("kept", "other", "more", "is_found"),
    [
        ("model", "", "pass", True),
        ("model", "other", "self.model = other", True),
        # What is compiled may be another object.
        ("model", "", "self.model = make()", False),
        ("wrapped(model)", "", "pass", False),
        ("model, 1", "", "pass", False),
        ("loss", "", "pass", False),
        ("model", "", "del self.model", False),
    ],
)
def test_a_parameter_that_is_kept_is_what_the_attribute_is_used_as(
    kept, other, more, is_found, gate
):
    source = KEEPS.format(kept=kept, other=other, more=more)
    found = scan(["-"], stdin=source.encode(), select=["KD207"], gate=gate).findings
    assert bool(found) is is_found


def test_what_another_class_keeps_under_the_name_says_nothing():
    source = KEEPS.format(kept="model", other="", more="pass")
    other = "\n\nclass Other:\n    def __init__(self):\n        self.model = read()\n"
    assert not scan(["-"], stdin=(source + other).encode(), select=["KD207"]).findings


SAVES = """\
import keras


def keep(model, path):
    {how}
    model.save_weights(path + ".h5")
"""
KEEPER = """\
import keras


class Keeper:
    def __init__(self, {taken}):
        self.net = {kept}

    def keep(self):
        self.net.train_on_batch(x, y)
        self.net.save_weights("a.h5")
"""


def kd601(source, *, gate=True):
    return bool(scan(["-"], stdin=source.encode(), select=["KD601"], gate=gate).findings)


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    "how",
    [
        "model.fit(x, y, epochs=3)",
        "model.evaluate(x, batch_size=32)",
        "model.train_on_batch(x, y)",
        "model.get_layer('a')",
        "model.fit_generator(x)",
        "model.compile(how, loss, metrics=['mae'])",
        "model.compile(how, loss, ['mae'])",
        "print(model.layers[0])",
        "print(model.inputs)",
    ],
)
def test_two_calls_tell_together_that_something_is_a_model(how, gate):
    assert kd601(SAVES.format(how=how), gate=gate)


@pytest.mark.parametrize(
    "how",
    [
        # As agents and estimators are used.
        "model.load_weights(path)",
        "model.fit(env, nb_steps=3, callbacks=[], verbose=2)",
        "model.compile(how, metrics=['mae'])",
        "model.compile(how, ['mae'])",
        "model.compile('adam', 'mse')",
        "other.fit(x, y, epochs=3)",
        "model.fit(x, y)",
        "model = DQNAgent(); model.fit(x, y, epochs=3)",
    ],
)
def test_what_others_do_too_tells_nothing(how):
    assert not kd601(SAVES.format(how=how))


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    ("taken", "kept", "is_found"),
    [
        ("net", "net", True),
        ("build", "build()", True),
        ("size", "Agent(size)", False),
        ("size", "rl.Agent(size)", False),
    ],
)
def test_what_an_attribute_is_used_for_tells_what_it_is(taken, kept, is_found, gate):
    assert kd601(KEEPER.format(taken=taken, kept=kept), gate=gate) is is_found


READS = """\
import keras


def show(model):
    for each in model.{first}:
        print(each)
    for each in model.{second}:
        print(each.{gone})
"""


def kd205(source, *, gate=True):
    return bool(scan(["-"], stdin=source.encode(), select=["KD205"], gate=gate).findings)


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    ("first", "second", "gone"),
    [
        ("layers", "inputs", "ref()"),
        ("layers", "outputs", "type_spec"),
        ("inputs", "layers", "get_output_at(0)"),
    ],
)
def test_the_layers_and_the_inputs_of_something_tell_that_it_is_a_model(first, second, gone, gate):
    assert kd205(READS.format(first=first, second=second, gone=gone), gate=gate)


@pytest.mark.parametrize(
    ("first", "second", "gone"),
    [
        ("layers", "nodes", "get_output_at(0)"),
        ("layers", "layers", "get_output_at(0)"),
        ("inputs", "outputs", "ref()"),
    ],
)
def test_one_of_them_alone_tells_nothing(first, second, gone):
    assert not kd205(READS.format(first=first, second=second, gone=gone))


def test_what_the_file_gives_layers_is_no_model():
    source = READS.format(first="layers", second="inputs", gone="ref()")
    assert not kd205(f"{source}\n\ndef fill(net):\n    net.layers = []\n")


def test_a_file_without_keras_tells_nothing():
    assert not kd601(SAVES.format(how="model.fit(x, epochs=3)").replace("import keras", ""))
