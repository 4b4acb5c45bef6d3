"""Convert a saved model of Keras 2 to one of Keras 3: what is data in it, and no code.

Neither TensorFlow nor Keras is imported, and nothing of the file is run.
"""

from kdoctor.models.convert.code import Code
from kdoctor.models.convert.conversion import Conversion, convert, refusals_of, write_code
from kdoctor.models.convert.lambda_sources import Lambdas
from kdoctor.models.convert.record import Change

__all__ = ["Change", "Code", "Conversion", "Lambdas", "convert", "refusals_of", "write_code"]
