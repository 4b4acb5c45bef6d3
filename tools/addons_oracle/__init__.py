"""What classes and functions of ``tensorflow_addons`` gave, which Keras 3 keeps from running."""
