"""What functions did that no Keras has any more which runs on today's TensorFlow."""
