"""Correct Keras 3 code for what people wrote backend code for, to be read and copied.

Each module stands alone: it imports ``keras`` (and NumPy) and nothing of kdoctor, is written on
``keras.ops``, and so runs on TensorFlow, JAX and PyTorch. ``kdoctor reference dice`` prints the one
that holds ``dice``; ``kdoctor verify`` runs them all against closed forms.
"""
