"""KD4: what runs on Keras 3 as it did on Keras 2, and means something else."""
