"""What Keras 2 had within reach and Keras 3 made private or dropped, written for Keras 3.

``kdoctor fix`` writes the definition that a file needs into that file, so each stands alone: it
reads names of ``keras``, ``numpy`` and the standard library by their full path, and other
definitions of its own module. ``kdoctor.verify.keras_2_code`` compares each with that of Keras 2.
"""
