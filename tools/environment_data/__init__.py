"""Reads what released wheels of TensorFlow, Keras and tf_keras ask for."""
