"""One place that says which Keras this package runs on."""
from keras import backend as K
from keras import initializers, regularizers
from keras import Layer

__all__ = ['K', 'Layer', 'initializers', 'regularizers']
