"""Hold what stands for names of ``tensorflow_addons`` to what that package gave, as recorded.

``python -m tools.addons_oracle`` writes the record; the proof of each calls ``compare``.
"""

from kdoctor.verify.addons.recorded import compare as compare
