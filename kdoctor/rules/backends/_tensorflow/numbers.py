"""Arithmetic and linear algebra."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals
from kdoctor.rules.names._backend.number_guards import not_negative, whole_numbers
from kdoctor.rules.names._backend.value_guards import somewhere

_OF_ONE = {
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "math.conj": "conj",
}
_FFT = (
    "keras.ops.fft, fft2 and rfft take and return a pair of tensors, of the real and the imaginary "
    "parts"
)
_STFT = (
    "write keras.ops.stft or keras.ops.istft, with (x, sequence_length, sequence_stride, "
    "fft_length); complex numbers are a pair of tensors"
)

_BAND = "tensorflow.linalg.band_part(input, num_lower, num_upper, name=None)"

REWRITES = (
    *(
        rewrite(f"tensorflow.{old}(x, name=None)", f"keras.ops.{new}(x)")
        for old, new in _OF_ONE.items()
    ),
    rewrite(
        "tensorflow.linalg.diag_part(input, name='diag_part', k=0, padding_value=0, "
        "align='RIGHT_LEFT')",
        "keras.ops.diagonal(input, axis1=-2, axis2=-1)",
        when=equals("k", 0),
    ),
    rewrite(
        "tensorflow.math.unsorted_segment_sum(data, segment_ids, num_segments, name=None)",
        "keras.ops.segment_sum(data, segment_ids, num_segments)",
    ),
    # A negative number keeps the whole triangle.
    *(
        rewrite(_BAND, right, when=guard & whole_numbers("num_lower", "num_upper"))
        for right, guard in (
            (
                "keras.ops.tril(input, num_upper)",
                equals("num_lower", -1) & not_negative("num_upper"),
            ),
            (
                "keras.ops.triu(input, -num_lower)",
                not_negative("num_lower") & equals("num_upper", -1),
            ),
            (
                "keras.ops.triu(keras.ops.tril(input, num_upper))",
                equals("num_lower", 0) & not_negative("num_upper"),
            ),
            (
                "keras.ops.triu(keras.ops.tril(input, num_upper), -num_lower)",
                not_negative("num_lower") & not_negative("num_upper"),
            ),
        )
    ),
    rewrite(
        _BAND,
        "keras.ops.triu(keras.ops.tril(input, num_upper), -num_lower)",
        when=somewhere(),
    ),
)

BY_HAND = {
    **{
        name: f"write keras.ops.{name.rpartition('.')[2]}"
        for name in (
            *("bitwise.bitwise_and", "bitwise.bitwise_or", "bitwise.bitwise_xor", "math.angle"),
            *("math.erfinv", "math.imag", "math.real"),
        )
    },
    "linalg.solve": "write keras.ops.solve(a, b)",
    "math.unsorted_segment_max": "write keras.ops.segment_max(data, segment_ids, num_segments)",
    "linalg.diag": "write keras.ops.diag(x) for a vector; for several multiply them by "
    "keras.ops.eye(n)",
    "linalg.matvec": "write keras.ops.einsum('...ij,...j->...i', a, b)",
    "linalg.qr": "write keras.ops.qr(x)",
    "linalg.eigh": "write keras.ops.eigh(x)",
    "linalg.svd": "write keras.ops.svd(x), which returns u, s and the transposed v, in this order",
    "linalg.lstsq": "write keras.ops.lstsq(a, b), for one pair of matrices",
    "linalg.cross": "write keras.ops.cross(a, b)",
    "math.segment_sum": "write keras.ops.segment_sum(data, segment_ids, num_segments=...): JAX "
    "must know the number of segments",
    "math.bincount": "write keras.ops.bincount(x, weights=..., minlength=...)",
    "math.cumulative_logsumexp": "keras.ops has none: subtract the maximum, and take the logarithm "
    "of keras.ops.cumsum of the exponentials",
    "math.xlogy": "write keras.ops.where(x == 0, 0.0, x * keras.ops.log(y))",
    "math.lgamma": "keras.ops has none: keep it, under `if keras.backend.backend() == "
    "'tensorflow'`, beside those of the other backends",
    "math.digamma": "keras.ops has none: keep it, under `if keras.backend.backend() == "
    "'tensorflow'`, beside those of the other backends",
    "clip_by_global_norm": "give the optimizer global_clipnorm=...; or divide by "
    "keras.ops.sqrt of the sum of squares",
    "gradients": "write the loss for `compile`, or `compute_loss` of the model: each backend has "
    "a way of its own to derivatives",
    "custom_gradient": "write @keras.ops.custom_gradient, whose inner function takes "
    "(*args, upstream=None) on JAX and TensorFlow alike",
    "histogram_fixed_width": "write keras.ops.histogram(x, bins, range)",
    "searchsorted": "write keras.ops.searchsorted(sorted_sequence, values, side=...), of one axis",
    **{
        f"signal.{name}": text
        for names, text in (
            (
                ("fft", "fft2d", "ifft2d", "rfft", "irfft", "ifft"),
                _FFT,
            ),
            (
                ("stft", "inverse_stft"),
                _STFT,
            ),
            (("frame",), "write keras.ops.extract_sequences(x, length, stride)"),
        )
        for name in names
    },
}
