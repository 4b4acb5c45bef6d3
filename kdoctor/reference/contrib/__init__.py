"""What ``keras_contrib`` did, on Keras 3: fixes write the definitions into files.

Each is held to results of its last commit, which ``kdoctor.verify.contrib`` has.
No class is registered, as none was: saved models get them by ``custom_objects``.
"""
