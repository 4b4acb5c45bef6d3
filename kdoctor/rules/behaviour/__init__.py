"""KD4: behaviour that changed in Keras 3, whether the code still runs or raises."""
