"""The environments, how each is broken, and what ``kdoctor env`` must say of it."""

from __future__ import annotations

from dataclasses import dataclass, field

KERAS_3 = ("3.11", ("tensorflow==2.21.0", "keras==3.15.1"))
KERAS_2_15 = ("3.11", ("tensorflow-cpu==2.15.1", "keras==2.15.0"))
KERAS_2_10 = (
    "3.10",
    ("tensorflow-cpu==2.10.1", "keras==2.10.0", "numpy<2", "protobuf<3.20", "pip"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A sound environment, what breaks it, and what that looks like.

    ``packages`` are put into the environment besides. ``install`` are installed over it without
    a look at what they need, ``stale`` is a release of Keras whose folder is left in it. ``files``
    lie in the working folder, those of ``remove`` are taken from the installed ones. ``program``
    must fail with ``raises`` and run once the cure is done. ``subject`` and ``says`` are of
    the line that names the cause.
    """

    name: str
    base: tuple[str, tuple[str, ...]]
    program: str
    raises: str
    subject: str
    says: str
    packages: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    uninstall: tuple[str, ...] = ()
    stale: tuple[str, str] = ("", "")  # a release of keras, and its folder that stays
    remove: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


_BUILD = "model = keras.Sequential([keras.layers.Dense(2)])\nmodel(np.ones((1, 2), 'float32'))\n"
_KERAS = f"import numpy as np\nimport keras\n{_BUILD}"
_TF_KERAS = f"import numpy as np\nimport tensorflow as tf\nkeras = tf.keras\n{_BUILD}"

CASES = (
    Case(
        "a stale keras/backend/ under keras 2.10",
        KERAS_2_10,
        "import numpy as np\nimport keras\nkeras.Sequential([keras.layers.Dense(2)])\n",
        "AttributeError: ",
        subject="keras",
        says="keras/backend/ was left over by another version and hides keras/backend.py",
        stale=("2.1.6", "keras/backend"),
    ),
    Case(
        "keras 2.15 with TensorFlow 2.21",
        KERAS_3,
        _TF_KERAS,
        "AttributeError: module 'tensorflow._api.v2.compat.v2.__internal__' has no attribute "
        "'register_load_context_function'",
        subject="keras",
        says="2.15.0 is for TensorFlow 2.15",
        install=("keras==2.15.0",),
    ),
    Case(
        "tf_keras missing under TF_USE_LEGACY_KERAS=1",
        KERAS_3,
        _TF_KERAS,
        "ImportError: Keras cannot be imported. Check that it is installed.",
        subject="tf.keras",
        says="TF_USE_LEGACY_KERAS=1 makes it tf_keras, which is not installed",
        variables={"TF_USE_LEGACY_KERAS": "1"},
    ),
    Case(
        "KERAS_BACKEND=theano",
        KERAS_3,
        _KERAS,
        "ValueError: Unable to import backend : theano",
        subject="KERAS_BACKEND",
        says="KERAS_BACKEND=theano: importing keras 3.15.1 raises ValueError",
        variables={"KERAS_BACKEND": "theano"},
    ),
    Case(
        "theano in keras.json",
        KERAS_3,
        _KERAS,
        "ValueError: Unable to import backend : theano",
        subject="keras.json",
        says='"backend": "theano": importing keras 3.15.1 raises ValueError',
        variables={"KERAS_HOME": "."},
        files={"keras.json": '{"backend": "theano", "floatx": "float32"}\n'},
    ),
    Case(
        "NumPy too new",
        KERAS_2_10,
        _KERAS,
        "",
        subject="numpy",
        says="is too new for tensorflow 2.10.1",
        install=("numpy==2.2.6",),
    ),
    Case(
        "SM_FRAMEWORK unset",
        KERAS_3,
        "import segmentation_models",
        "AttributeError: module 'keras.utils' has no attribute 'generic_utils'",
        subject="SM_FRAMEWORK",
        says="SM_FRAMEWORK is not set",
        packages=("segmentation-models==1.0.1",),
    ),
    Case(
        "a package that Keras imports is missing",
        KERAS_3,
        _TF_KERAS,
        "ImportError: ",
        subject="optree",
        says="not installed; keras 3.15.1 asks for optree",
        uninstall=("optree",),
    ),
    Case(
        "a keras.py of the user's own",
        KERAS_3,
        _TF_KERAS,
        "",
        subject="keras.py",
        says="lies in the working folder",
        files={"keras.py": "print('mine')\n"},
    ),
    Case(
        "keras uninstalled by halves",
        KERAS_2_15,
        _TF_KERAS,
        "ImportError: cannot import name 'losses'",
        subject="keras",
        says="keras/src/losses.py of keras 2.15.0 is not there",
        remove=("keras/src/losses.py",),
    ),
    Case(
        "keras removed under TensorFlow",
        KERAS_3,
        _TF_KERAS,
        "ImportError: Keras cannot be imported. Check that it is installed.",
        subject="keras",
        says="not installed, and tensorflow 2.21.0 takes tf.keras from it",
        uninstall=("keras",),
    ),
    Case(
        "KERAS_BACKEND=jax without JAX",
        KERAS_3,
        _KERAS,
        "ModuleNotFoundError: No module named 'jax'",
        subject="KERAS_BACKEND",
        says="KERAS_BACKEND=jax, and jax is not installed",
        variables={"KERAS_BACKEND": "jax"},
    ),
    Case(
        "tensorflow-addons on Keras 3",
        KERAS_3,
        "import importlib.util\n"
        "if importlib.util.find_spec('tensorflow_addons'): import tensorflow_addons\n",
        "ModuleNotFoundError: No module named 'keras.src.engine'",
        subject="tensorflow-addons",
        says="cannot be imported with keras 3.15.1",
        packages=("tensorflow-addons==0.23.0",),
    ),
)
