"""What cells of Keras 2 kept their dropout masks in."""

import weakref

import tensorflow as tf


class ContextValueCache(weakref.WeakKeyDictionary):
    """A value for each graph and for eager code; the key None is this one."""

    class Eagerly:
        """The key of what is made while code runs eagerly."""

    def __init__(self, default_factory):
        self.default_factory = default_factory
        super().__init__()

    def _key(self):
        if tf.executing_eagerly():
            return self.Eagerly
        return tf.compat.v1.get_default_graph()

    def _around(self, key):
        """Return the key of the graph around that of a function."""
        is_eager = tf.compat.v1.executing_eagerly_outside_functions()
        is_function = hasattr(key.outer_graph, "outer_graph")
        return key.outer_graph if is_function or not is_eager else self.Eagerly

    def __getitem__(self, key):
        key = own = self._key() if key is None else key
        value = self.get(key)
        while value is None and hasattr(key, "outer_graph"):
            key = self._around(key)
            value = self.get(key)
        if value is None:
            value = self[own] = self.default_factory()
        return value

    def setdefault(self, key=None, default=None, kwargs=None):
        """Return the value of a key; where there is none, make it."""
        key = self._key() if key is None else key
        if default is None and key not in self:
            default = self.default_factory(**(kwargs or {}))
        return super().setdefault(key, default)
