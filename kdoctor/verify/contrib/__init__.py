"""Hold what stands for names of ``keras_contrib`` to what that package gave, as recorded.

``python -m tools.contrib_oracle`` writes the record; the proof of each calls ``compare``.
"""

from kdoctor.verify.contrib.recorded import compare as compare
