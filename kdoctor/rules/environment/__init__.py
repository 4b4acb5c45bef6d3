"""The installation, and the libraries built on Keras."""
