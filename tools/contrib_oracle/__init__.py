"""What classes and functions of ``keras_contrib`` gave, which Keras 3 keeps from running."""
