"""Compare the definitions of ``kdoctor.reference.keras_2`` with those of Keras 2, by drawn inputs.

The proof of each calls ``compare``: see ``kdoctor.rules.names._definitions.proofs``.
"""

from kdoctor.verify.keras_2_code.by_name import compare as compare
