"""What of a file runs on Keras' backend, and what is TensorFlow's whatever the backend is."""
