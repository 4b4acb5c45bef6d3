"""What KD207 reports and what it leaves alone."""

from __future__ import annotations

from kdoctor.rules.rule import Example

VALID = [
    # Each of the tensors with values that a model gives has the shape of TensorFlow.
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.Model):\n"
        "    def call(self, x):\n        return x, 2 * x\n\n\na, b = Mine()(tf.ones((2, 4)))\n"
        "assert a.shape.as_list() == b.shape.as_list() == [2, 4]"
    ),
    # What merges tensors with values makes such a one.
    (
        "import keras\nimport tensorflow as tf\n\nx = tf.ones((2, 4))\n"
        "x = keras.layers.concatenate([x, keras.layers.add([x, x])])\n"
        "assert x.shape.as_list() == x.get_shape() == [2, 8]"
    ),
    "import keras\nx = keras.Input((4,))\nlist(x.shape), x.shape[1], len(x.shape)",
    # Inside `call` it is TensorFlow's tensor.
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def call(self, x):\n"
        "        return x.shape.as_list()"
    ),
    "import keras\nimport tensorflow as tf\ntf.zeros((2, 3)).shape.as_list()",
    "import keras\nimport tensorflow as tf\ntf.TensorShape([1, 2]).as_list()",
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, input_shape):\n"
        "        input_shape = tf.TensorShape(input_shape)\n        input_shape.as_list()"
    ),
    # No file of Keras 3; no tensor that is not known to be TensorFlow's.
    "import tf_keras\n\n\ndef size(x):\n    return x.shape.as_list()",
    "import keras\nimport tensorflow as tf\n\nx = tf.io.decode_png(data)\nx.shape.as_list()",
    # TensorFlow's functions would not take a Keras tensor, nor give one; none is ragged.
    "import keras\nimport tensorflow as tf\nsize = given.shape.as_list()\ntf.reshape(given, size)",
    "import keras, tensorflow as t\ndef f(x):\n if a:\n  x = t.abs(b)\n return x.shape.as_list()",
    "import keras\ntokens = cut(text)\ntokens.to_tensor(shape=tokens.shape.as_list())",
    # What is asked is a layer of one's own, and such a layer may stand in one of Keras.
    "import keras\nfrom mine import Own\nOwn().compute_output_shape((None, 3)).as_list()",
    "import keras\nkeras.layers.Lambda(f).compute_output_shape((None, 3)).as_list()",
    "import keras\nkeras.layers.Dropout(0.1).compute_output_shape(shape).as_list()",
    # Batches of `tf.data` and weights have TensorFlow's shapes.
    *(
        f"import keras\nfrom mine import tf\ndata = keras.utils.{made}\n{read}"
        for made in ("image_dataset_from_directory(path)", "text_dataset_from_directory(path)")
        for read in (
            "for x, y in data.take(1):\n    x.shape.as_list()",
            "data = data.map(f)\nfor i, (x, y) in enumerate(data):\n    y.shape.as_list()",
            "x, y = next(iter(data))\nx.shape.as_list()",
            "x = tf.io.decode_png(given)\nx.shape.as_list()",
            "for w in net.weights:\n    w.shape.as_list()",
            "sorted(net.weights, key=lambda w: w.shape.as_list())",
            "[w.shape.as_list() for w in net.trainable_variables]",
        )
    ),
    # TensorFlow's own, where its elements are what they were.
    (
        "import keras\nimport tensorflow.compat.v1 as tf\n\ntf.disable_v2_tensorshape()\n"
        "tf.TensorShape((None, 3))[1].value, x.get_shape()[1].value"
    ),
    "import keras\nif a:\n    size = x.shape[1]\nelse:\n    size = given\nsize.value",
    "import keras\nif a:\n    size = x.shape[1]\nfor size in given:\n    size += 1\nsize.value",
    "import keras\nfrom mine import TensorShape\nTensorShape((None, 3))[1].value",
    # It is asked for first.
    (
        "import keras\n\nsize = keras.Input((4,)).shape[-1]\nif not isinstance(size, int):\n"
        "    size = size.value"
    ),
    # A weight's shape is TensorFlow's own.
    "import keras\nlayer = keras.layers.Dense(3)\nlayer.kernel.shape.as_list()",
    # The layer itself keeps TensorFlow's.
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, input_shape):\n"
        "        self.kept = input_shape\n"
        "        self.kept = tf.TensorShape(self.kept)\n        self.kept.as_list()"
    ),
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, input_shape):\n        self.kept = input_shape\n\n"
        "    def call(self, x):\n        self.kept = x.shape\n        return self.kept.as_list()"
    ),
    "import keras\nkeras.Variable(1.0).value",
    "import keras\nsettings = {'shape': [1]}\nsettings['shape'].value",
    "import tf_keras\nx = tf_keras.Input((4,))\nx.shape.as_list()",
    "import keras\n\n\nclass Grid:\n    def build(self, shape):\n        return shape.rank",
    "import keras\n\n\nclass Grid:\n    def build(self, shapes):\n        shapes[0].as_list()",
    "import keras\nfor each in shapes:\n    print(each.as_list())\nfirst, _ = each\nfirst.value",
    "import keras\nx = keras.Input((4,)).shape\nfor x in sizes:\n    x.as_list(), x.value",
    # What it becomes where there is none stays a shape.
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shapes):\n"
        "        first, second = shapes\n        try:\n            first = first.as_list()\n"
        "        except AttributeError:\n            pass"
    ),
]
_OF_TWO = "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shapes):\n"
_BUILT = "\n\nmine = Mine()\nmine.build([(None, 3), (None, 4)])"
_MADE = (
    "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
    "    def build(self, shape):\n"
)
_BUILT_OF_ONE = "\n\n\nmine = Mine()\nmine.build((None, 3))"
_INPUT = "import keras\n\nx = keras.Input((4, 5))\n"
_ASKED = "import keras\n\ngiven = keras.layers.Dense(3).compute_output_shape((None, 4))\n"
INVALID = [
    Example(
        before=f"{_ASKED}shape = given.as_list()",
        after=f"{_ASKED}shape = list(given)",
        raises="AttributeError: 'tuple' object has no attribute 'as_list'",
        same="shape",
    ),
    Example(
        before=f"{_INPUT}rank, sizes = len(x.shape.as_list()), x.get_shape().as_list()[1:]",
        after=f"{_INPUT}rank, sizes = len(x.shape), list(x.shape)[1:]",
        raises="AttributeError: 'tuple' object has no attribute 'as_list'",
        findings=2,
        check="assert (rank, sizes) == (3, [4, 5])",
        on_keras_2=True,
    ),
    Example(
        before=f"{_INPUT}shape = x.shape.as_list()",
        after=f"{_INPUT}shape = list(x.shape)",
        raises="AttributeError: 'tuple' object has no attribute 'as_list'",
        same="shape",
    ),
    Example(
        before=f"{_INPUT}rank = x.shape.ndims + 1\nother = -x.shape[1:].rank",
        after=f"{_INPUT}rank = len(x.shape) + 1\nother = -len(x.shape[1:])",
        raises="AttributeError: 'tuple' object has no attribute 'ndims'",
        findings=2,
        same="rank, other",
    ),
    Example(
        before=f"{_INPUT}width = 2 * x.shape[1].value",
        after=f"{_INPUT}width = 2 * x.shape[1]",
        raises="AttributeError: 'int' object has no attribute 'value'",
        check="assert width == 8",
    ),
    Example(
        before=f"{_INPUT}shape = x.shape\nwhole = not shape.is_fully_defined()",
        after=f"{_INPUT}shape = x.shape\nwhole = not None not in shape",
        raises="AttributeError: 'tuple' object has no attribute 'is_fully_defined'",
        same="whole",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, input_shape):\n"
        "        self.size = input_shape[-1].value\n"
        "        self.whole = input_shape.as_list()\n\n\n"
        "mine = Mine()\nmine.build((None, 3))",
        after="import keras\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, input_shape):\n"
        "        self.size = input_shape[-1]\n"
        "        self.whole = list(input_shape)\n\n\n"
        "mine = Mine()\nmine.build((None, 3))",
        raises="AttributeError: 'int' object has no attribute 'value'",
        findings=2,
        check="assert (mine.size, mine.whole) == (3, [None, 3])",
    ),
    # Of several inputs it is a list of shapes.
    Example(
        before=f"{_OF_TWO}        first = shapes[0]\n        self.size = first.as_list()[-1]\n"
        f"        self.sizes = shapes[1][-1].value, shapes[1].ndims\n{_BUILT}",
        after=f"{_OF_TWO}        first = shapes[0]\n        self.size = first[-1]\n"
        f"        self.sizes = shapes[1][-1], len(shapes[1])\n{_BUILT}",
        raises="AttributeError: 'tuple' object has no attribute 'as_list'",
        findings=3,
        check="assert (mine.size, mine.sizes) == (3, (4, 2))",
    ),
    Example(
        before=f"{_OF_TWO}        one, other = shapes\n        self.size = one.as_list()[-1]\n"
        "        self.rest = [each.rank for each in shapes], [size.value for size in other[1:]]\n"
        f"{_BUILT}",
        after=f"{_OF_TWO}        one, other = shapes\n        self.size = one[-1]\n"
        "        self.rest = [len(each) for each in shapes], [size for size in other[1:]]\n"
        f"{_BUILT}",
        raises="AttributeError: 'tuple' object has no attribute 'as_list'",
        findings=3,
        check="assert (mine.size, mine.rest) == (3, ([2, 2], [4]))",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, input_shape):\n        self.kept = input_shape\n"
        "        for each in self.blocks:\n            self.kept = each.out\n\n"
        "    def width(self):\n        return self.kept.as_list()[-1]\n\n\n"
        "mine = Mine()\nmine.blocks = []\nmine.build((None, 3))\nwidth = mine.width()",
        after="import keras\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, input_shape):\n        self.kept = input_shape\n"
        "        for each in self.blocks:\n            self.kept = each.out\n\n"
        "    def width(self):\n        return self.kept[-1]\n\n\n"
        "mine = Mine()\nmine.blocks = []\nmine.build((None, 3))\nwidth = mine.width()",
        raises="AttributeError: 'tuple' object has no attribute 'as_list'",
        check="assert width == 3",
    ),
    Example(
        before=f"{_INPUT}x.shape.num_elements()",
        raises="AttributeError: 'tuple' object has no attribute 'num_elements'",
    ),
    Example(
        before=f"{_INPUT}x.shape[1:].assert_is_fully_defined()",
        raises="AttributeError: 'tuple' object has no attribute 'assert_is_fully_defined'",
    ),
    Example(
        before=f"{_MADE}        size = shape[-1]\n        if size % 2:\n            size += 1\n"
        "        if len(shape) == 2:\n            other = shape[1]\n        else:\n"
        "            other = shape[2]\n        self.sizes = size.value, other.value"
        f"{_BUILT_OF_ONE}",
        after=f"{_MADE}        size = shape[-1]\n        if size % 2:\n            size += 1\n"
        "        if len(shape) == 2:\n            other = shape[1]\n        else:\n"
        f"            other = shape[2]\n        self.sizes = size, other{_BUILT_OF_ONE}",
        raises="AttributeError: 'int' object has no attribute 'value'",
        findings=2,
        check="assert mine.sizes == (4, 3)",
    ),
    # One's own `TensorShape` has ints in it, too, since TensorFlow 2.
    Example(
        before=f"{_MADE}        shape = tf.TensorShape(shape)\n        width = shape[-1]\n"
        f"        self.sizes = shape[-1].value, width.value{_BUILT_OF_ONE}",
        after=f"{_MADE}        shape = tf.TensorShape(shape)\n        width = shape[-1]\n"
        f"        self.sizes = shape[-1], width{_BUILT_OF_ONE}",
        raises="AttributeError: 'int' object has no attribute 'value'",
        findings=2,
        check="assert mine.sizes == (3, 3)",
    ),
    # Of a parameter nobody knows; what is compared with None is symbolic.
    Example(
        before=f"{_INPUT}\n\ndef width(tensor):\n    return tensor.shape.as_list()[-1]\n\n\n"
        "found = width",
        after=f"{_INPUT}\n\ndef width(tensor):\n    return tensor.shape[-1]\n\n\nfound = width",
        check="import tensorflow as tf\nassert found(tf.ones((2, 3))) == 3",
    ),
    Example(
        before=f"{_INPUT}\n\ndef both():\n    return [x, x], x\n\n\n(one, two), three = both()\n"
        "assert one.shape.as_list() == [None, 4, 5]",
        after=f"{_INPUT}\n\ndef both():\n    return [x, x], x\n\n\n(one, two), three = both()\n"
        "assert list(one.shape) == [None, 4, 5]",
        raises="AttributeError: 'tuple' object has no attribute 'as_list'",
    ),
    Example(
        before=f"{_INPUT}\n\ndef width(tensor):\n    return tensor.get_shape().as_list()[-1]\n\n\n"
        "found = width(x)",
        after=f"{_INPUT}\n\ndef width(tensor):\n    return tensor.shape[-1]\n\n\nfound = width(x)",
        raises="AttributeError: 'KerasTensor' object has no attribute 'get_shape'",
        check="assert found == 5",
    ),
]
