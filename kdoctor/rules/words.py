"""What a file must speak of for any rule to fire; known without importing a single rule."""

from __future__ import annotations

from kdoctor.keras_api.lent_modules import LENT
from kdoctor.rules.own import in_use

# Libraries that bring Keras into a file which never says so itself.
_BUILT_ON_KERAS = (
    *("segmentation_models", "efficientnet"),
    # Those of KD704 that are not called after Keras.
    *("tensorflow_addons", "tensorflow_recommenders", "tensorflow_ranking", "tensorflow_gnn"),
    *("neural_structured_learning", "anago", "deepctr", "hyperas", "innvestigate", "larq"),
    *("mrcnn", "ncps", "tensorflow_estimator", "textgenrnn"),
)


def words() -> tuple[str, ...]:
    """Return the words of which a file's bytes, and its identifiers, must contain at least one.

    Of several in one text all: "tensorflow losses". A rule that concerns a library of another name
    adds that library here; one's own says it in its ``LIBRARIES``.
    """
    lent = (f"tensorflow {module}" for module in LENT)
    return ("keras", *_BUILT_ON_KERAS, *lent, *in_use().libraries)
