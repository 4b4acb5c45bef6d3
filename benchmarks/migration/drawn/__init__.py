"""Code of repositories without tests: what it does on Keras 2, and on Keras 3 after the fixes."""
