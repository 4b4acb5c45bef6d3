"""Definitions that fixes write into a file, for names that are gone.

Helpers of Keras 2 (`conv_utils.normalize_tuple`, `_Merge`; ``keras_2_helpers`` says which they
are), and what packages that died with Keras 2 had (``dead_packages``). ``definitions`` reads their
code, which lies in ``kdoctor.reference``; ``fixes`` writes it into the file that needs it, or
imports what ``keras.src`` has today.
"""
