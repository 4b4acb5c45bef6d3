"""One place that says which Keras this package runs on."""
from keras import Layer, initializers, regularizers
from keras import backend as K

__all__ = ['K', 'Layer', 'initializers', 'regularizers']
