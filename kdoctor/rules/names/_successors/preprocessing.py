"""What only `tf.keras` still has of the old preprocessing, run against Keras 2."""

from __future__ import annotations

# The names that a run has shown to do what they did, and the examples of KD102 that ran it.
IN_TF_KERAS = {
    **{
        f"preprocessing.image.{name}": "images"
        for name in (
            "ImageDataGenerator", "Iterator", "NumpyArrayIterator", "apply_affine_transform",
            "apply_brightness_shift", "apply_channel_shift", "random_brightness",
            "random_channel_shift", "random_rotation", "random_shear", "random_shift",
            "random_zoom",
        )
    },
    **{
        f"preprocessing.text.{name}": "texts"
        for name in (
            "Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json",
        )
    },
    **{
        f"preprocessing.sequence.{name}": "sequences"
        for name in ("TimeseriesGenerator", "make_sampling_table", "skipgrams")
    },
    "layers.ThresholdedReLU": "thresholded",
}  # fmt: skip

# Where the two are not the same after all.
UNLIKE = {
    "losses.Reduction": "Keras 3 rejects Reduction.AUTO ('auto'): omit reduction there",
    "preprocessing.sequence.TimeseriesGenerator": "its get_config() and to_json() raise in Keras 3",
}
