"""What `get_config` and `to_json` of a model said, for code that reads it."""


class Keras2Config:
    """A model's config as Keras 2 wrote it: `Keras2Config.of(config)`."""

    absent = {
        "Conv1DTranspose": {"groups": 1},
        "Conv2DTranspose": {"groups": 1},
        "Dense": {"activity_regularizer": None},
        "DepthwiseConv1D": {"groups": 1},
        "DepthwiseConv2D": {"groups": 1},
        "Embedding": {"input_length": None},
        "GRU": {"time_major": False, "implementation": 2},
        "LSTM": {"time_major": False, "implementation": 2},
        "SeparableConv1D": {"groups": 1, "kernel_regularizer": None, "kernel_constraint": None},
        "SeparableConv2D": {"groups": 1, "kernel_regularizer": None, "kernel_constraint": None},
        "SimpleRNN": {"time_major": False},
    }
    parameters = {
        "GRU": ("sequences", "initial_state"),
        "LSTM": ("sequences", "initial_state"),
        "MultiHeadAttention": ("query", "value", "key"),
        "SimpleRNN": ("sequences", "initial_state"),
    }

    @classmethod
    def of(cls, config):
        """Return a config in that form, an old one as it is."""
        if isinstance(config, (list, tuple)):
            return type(config)(map(cls.of, config))
        if not isinstance(config, dict) or cls.is_tensor(config):
            return config
        config = {name: cls.of(each) for name, each in config.items()}
        if "batch_shape" in config and "sparse" in config:
            names = {"batch_shape": "batch_input_shape"}
            config = {names.get(name, name): each for name, each in config.items()}
        if isinstance(config.get("layers"), list) and "output_layers" in config:
            config = cls(config).as_keras_2()
        has_class = "class_name" in config and isinstance(config.get("config"), dict)
        return cls.of_object(config) if has_class else config

    @classmethod
    def of_object(cls, config):
        """Return the config of a layer or a dtype policy, with its class."""
        kind, settings = config["class_name"], config["config"]
        if kind == "DTypePolicy":
            if not settings["name"].startswith("mixed_"):
                return settings["name"]
            return {**config, "module": "keras.mixed_precision", "class_name": "Policy"}
        if "dtype" not in settings:
            return config
        settings = {**cls.absent.get(kind, {}), **settings}
        if kind == "LeakyReLU":
            settings.setdefault("alpha", settings.get("negative_slope"))
        shape = (config.get("build_config") or {}).get("input_shape")
        if kind in ("BatchNormalization", "LayerNormalization") and shape:
            axis = settings["axis"]
            axes = [axis] if isinstance(axis, int) else axis
            settings["axis"] = [each % len(shape) for each in axes]
        return {**config, "config": settings}

    def __init__(self, model):
        """Take the config of a model whose layers are of the old form."""
        self.model = model
        self.layers = model["layers"]
        calls = [call for layer in self.layers for call in layer.get("inbound_nodes", ())]
        self.is_new = any(map(self.is_call, calls))
        inner = {each["name"]: each["config"] for each in self.layers if self.is_new}
        self.models = {name for name, each in inner.items() if "layers" in each}
        self.sequential = {name for name in self.models if "output_layers" not in inner[name]}

    def as_keras_2(self):
        """Return the config with calls, inputs and outputs as lists."""
        inputs = self.ends(self.model["input_layers"])
        outputs = self.ends(self.model["output_layers"])
        if self.is_new:
            self.leave_out_masks(outputs.values() if isinstance(outputs, dict) else outputs)
            self.layers = [{**each, "inbound_nodes": self.calls(each)} for each in self.layers]
        ends = {"input_layers": inputs, "output_layers": outputs}
        return {**self.model, "layers": self.layers, **ends}

    def ends(self, ends):
        """Return the inputs or outputs: a list also where there is one."""
        if isinstance(ends, dict):
            return {name: self.ends(each)[0] for name, each in ends.items()}
        if not isinstance(ends[0], str):
            return [self.ends(each)[0] for each in ends]
        name, node, tensor = ends
        return [[name, node + (name in self.sequential), tensor]]

    def history(self, tensor):
        """Return where a tensor comes from: a model has a node of its own."""
        name, node, place = tensor["config"]["keras_history"]
        return [name, node + (name in self.models), place]

    def calls(self, layer):
        """Return the calls of a layer."""
        found = layer["inbound_nodes"]
        return [self.call(layer, each) if self.is_call(each) else each for each in found]

    def call(self, layer, call):
        """Return where the first argument comes from, with the others."""
        known, args = self.parameters.get(layer["class_name"], ()), call["args"]
        numbered = [f"args_{place}" for place in range(len(known), len(args))]
        given = dict(zip([*known, *numbered][: len(args)], args, strict=True))
        kwargs = call["kwargs"].items()
        given |= {name: each for name, each in kwargs if self.is_passed(layer, name, each)}
        first = next((name for name in known if name in given), next(iter(given)))
        inputs, state = given.pop(first), given.pop("initial_state", None)
        if state is not None:
            inputs = [inputs, *([state] if self.is_tensor(state) else state)]
        given = self.each_leaf(
            given, lambda leaf: self.history(leaf) if self.is_tensor(leaf) else leaf
        )

        def entry(leaf):
            is_tensor = self.is_tensor(leaf)
            return [*(self.history(leaf) if is_tensor else ("_CONSTANT_VALUE", -1, leaf)), given]

        found = self.each_leaf(inputs, entry)
        return [found] if self.is_leaf(inputs) else found

    def is_passed(self, layer, name, value):
        """Say whether it is no mask or default that Keras 3 passes."""
        if self.is_mask(name):
            names = {each["name"] for each in self.layers}
            return self.sources(value) <= names and any(
                each is not None for each in self.leaves(value)
            )
        is_kept = "layers" in layer["config"] or layer["class_name"] == "BatchNormalization"
        return name != "training" or value is not False or is_kept

    def leave_out_masks(self, outputs):
        """Leave out operations that only make masks."""
        before = 0
        while before != len(self.layers):
            before = len(self.layers)
            used = {name for name, _, _ in outputs}
            for layer in self.layers:
                for call in filter(self.is_call, layer["inbound_nodes"]):
                    kwargs = call["kwargs"].items()
                    given = [each for name, each in kwargs if not self.is_mask(name)]
                    used |= self.sources([call["args"], given])
            self.layers = [
                each
                for each in self.layers
                if each["name"] in used or not str(each.get("module")).startswith("keras.src.ops")
            ]

    @staticmethod
    def is_tensor(value):
        """Say whether it is a tensor of a call of Keras 3."""
        return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"

    @staticmethod
    def is_call(value):
        """Say whether it is a call as Keras 3 writes it."""
        is_new = isinstance(value, dict) and value.keys() == {"args", "kwargs"}
        return is_new and isinstance(value["kwargs"], dict)

    @staticmethod
    def is_mask(name):
        """Say whether Keras 3 passes an argument of that name by itself."""
        return name.endswith("mask") and name != "attention_mask"

    @staticmethod
    def is_leaf(value):
        """Say whether a value is no structure of others."""
        return not isinstance(value, (dict, list, tuple)) or "class_name" in value

    @classmethod
    def each_leaf(cls, value, change):
        """Return a structure with each of its leaves changed."""
        if cls.is_leaf(value):
            return change(value)
        if isinstance(value, dict):
            return {name: cls.each_leaf(each, change) for name, each in value.items()}
        return [cls.each_leaf(each, change) for each in value]

    @classmethod
    def leaves(cls, value):
        """Return the leaves of a structure."""
        found = []
        cls.each_leaf(value, found.append)
        return found

    @classmethod
    def sources(cls, value):
        """Return the layers that the tensors of a structure come from."""
        tensors = filter(cls.is_tensor, cls.leaves(value))
        return {each["config"]["keras_history"][0] for each in tensors}
