"""Helpers of Keras 2 that Keras 3 made private or dropped: `conv_utils.normalize_tuple`, `_Merge`.

``names`` says which they are, ``definitions`` reads the code of ``kdoctor.reference.keras_2``, and
``fixes`` writes it into the file that needs it, or imports what ``keras.src`` has today.
"""
