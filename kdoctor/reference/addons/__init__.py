"""What ``tensorflow_addons`` did, on Keras 3: fixes write the definitions into files.

Each is held to recorded results of tensorflow_addons 0.23: ``kdoctor.verify.addons``.
A class is registered by the name that it had there, so that saved models find it.
"""
