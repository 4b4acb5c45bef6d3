"""Base classes of layers that were private in Keras 2, and that people derived from."""

import keras


class Merge(keras.layers.Layer):
    """A layer that merges several inputs: a subclass defines `_merge_function`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self._reshape_required = False

    def _merge_function(self, inputs):
        raise NotImplementedError

    def _compute_elemwise_op_output_shape(self, shape1, shape2):
        if shape1 is None or shape2 is None:
            return None
        if len(shape1) < len(shape2):
            shape1, shape2 = shape2, shape1
        merged = list(shape1)
        for axis in range(-len(shape2), 0):
            one, other = shape1[axis], shape2[axis]
            if None not in {one, other} and 1 not in {one, other} and one != other:
                raise ValueError(f"the inputs do not fit: {shape1} and {shape2}")
            merged[axis] = None if None in {one, other} else other if one == 1 else one
        return tuple(merged)

    def build(self, input_shape):
        """Check that the inputs can be merged."""
        if not isinstance(input_shape[0], (tuple, list)):
            raise ValueError(f"a merging layer takes a list, not {input_shape}")
        if len({shape[0] for shape in input_shape} - {None}) > 1:
            raise ValueError(f"the inputs have different batch sizes: {input_shape}")
        self.compute_output_shape(input_shape)
        self._reshape_required = len({len(shape) for shape in input_shape}) > 1

    def call(self, inputs):
        """Merge the inputs, those of lower rank with axes of 1 behind the first."""
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("a merging layer takes a list of inputs")
        if self._reshape_required:
            rank = max(len(each.shape) for each in inputs)
            added = [tuple(range(1, 1 + rank - len(each.shape))) for each in inputs]
            inputs = list(map(keras.ops.expand_dims, inputs, added))
        return self._merge_function(inputs)

    def compute_output_spec(self, inputs, *args, **kwargs):
        """Ask `call` for the shape, not `compute_output_shape`."""
        return keras.Operation.compute_output_spec(self, inputs, *args, **kwargs)

    def compute_output_shape(self, input_shape):
        """Return the shape of elements that are merged one by one."""
        merged = input_shape[0][1:]
        for shape in input_shape[1:]:
            merged = self._compute_elemwise_op_output_shape(merged, shape[1:])
        sizes = {shape[0] for shape in input_shape} - {None}
        return (sizes.pop() if len(sizes) == 1 else None, *merged)

    def compute_mask(self, inputs, mask=None):
        """Return where all masks hold."""
        if mask is None:
            return None
        if not isinstance(mask, (list, tuple)) or len(mask) != len(inputs):
            raise ValueError("a merging layer takes a list, one mask for each input")
        masks = [each for each in mask if each is not None]
        return keras.ops.all(keras.ops.stack(masks), axis=0) if masks else None


class GlobalPooling1D(keras.layers.Layer):
    """A layer that makes one step of a sequence: a subclass defines `call`."""

    def __init__(self, data_format="channels_last", keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.input_spec = keras.layers.InputSpec(ndim=3)
        self.data_format = (data_format or keras.config.image_data_format()).lower()
        self.keepdims = keepdims

    def call(self, inputs):
        """Pool all steps."""
        raise NotImplementedError

    def compute_output_spec(self, inputs, *args, **kwargs):
        """Ask `call` for the shape, not `compute_output_shape`."""
        return keras.Operation.compute_output_spec(self, inputs, *args, **kwargs)

    def compute_output_shape(self, input_shape):
        """Return the shape without the steps."""
        if self.data_format == "channels_first":
            return (*input_shape[:2], 1) if self.keepdims else tuple(input_shape[:2])
        one = (1,) if self.keepdims else ()
        return (input_shape[0], *one, input_shape[2])

    def get_config(self):
        """Return what makes the same layer again."""
        config = {"data_format": self.data_format, "keepdims": self.keepdims}
        return {**super().get_config(), **config}


class GlobalPooling2D(keras.layers.Layer):
    """A layer that makes one pixel of a whole image: a subclass defines `call`."""

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.input_spec = keras.layers.InputSpec(ndim=4)
        self.data_format = (data_format or keras.config.image_data_format()).lower()
        self.keepdims = keepdims

    def call(self, inputs):
        """Pool all pixels."""
        raise NotImplementedError

    def compute_output_spec(self, inputs, *args, **kwargs):
        """Ask `call` for the shape, not `compute_output_shape`."""
        return keras.Operation.compute_output_spec(self, inputs, *args, **kwargs)

    def compute_output_shape(self, input_shape):
        """Return the shape without rows and columns."""
        ones = (1, 1) if self.keepdims else ()
        if self.data_format == "channels_first":
            return (*input_shape[:2], *ones)
        return (input_shape[0], *ones, input_shape[3])

    def get_config(self):
        """Return what makes the same layer again."""
        config = {"data_format": self.data_format, "keepdims": self.keepdims}
        return {**super().get_config(), **config}


class GlobalPooling3D(keras.layers.Layer):
    """A layer that makes one point of a whole volume: a subclass defines `call`."""

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.input_spec = keras.layers.InputSpec(ndim=5)
        self.data_format = (data_format or keras.config.image_data_format()).lower()
        self.keepdims = keepdims

    def call(self, inputs):
        """Pool all points."""
        raise NotImplementedError

    def compute_output_spec(self, inputs, *args, **kwargs):
        """Ask `call` for the shape, not `compute_output_shape`."""
        return keras.Operation.compute_output_spec(self, inputs, *args, **kwargs)

    def compute_output_shape(self, input_shape):
        """Return the shape without the three sizes of the volume."""
        ones = (1, 1, 1) if self.keepdims else ()
        if self.data_format == "channels_first":
            return (*input_shape[:2], *ones)
        return (input_shape[0], *ones, input_shape[4])

    def get_config(self):
        """Return what makes the same layer again."""
        config = {"data_format": self.data_format, "keepdims": self.keepdims}
        return {**super().get_config(), **config}
