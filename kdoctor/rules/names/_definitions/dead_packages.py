"""Which names of packages that died with Keras 2 can be written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from kdoctor.rules.names._definitions.written_out import Helper

PACKAGE: Final = "tensorflow_addons"
CONTRIB: Final = "keras_contrib"
_RANDOM: Final = "other random numbers are drawn"
_UNLIKE: Final = {
    "AverageModelCheckpoint": "the names of its files have to end as Keras 3 asks",
    **dict.fromkeys(("StochasticDepth", "SampleEmbeddingSampler"), _RANDOM),
    "ScheduledEmbeddingTrainingSampler": _RANDOM,
    "ScheduledOutputTrainingSampler": _RANDOM,
    **dict.fromkeys(("skip_gram_sample", "skip_gram_sample_with_text_vocab"), _RANDOM),
    **dict.fromkeys(
        ("random_cutout", "random_hsv_in_yiq", "NoisyDense", "ESNCell", "ESN"), _RANDOM
    ),
    "rrelu": "Keras 3 does not tell a function that a model is in training: without "
    "`training=True` nothing is drawn, and with it other numbers are",
    "AveragedOptimizerWrapper": "what derives from it is given variables of Keras 3, to which "
    "`use_locking` and the like are unknown",
    "WeightNormalization": "the first batch is put through the weights as they are then, where "
    "`tensorflow_addons` took those that it was built with",
}
_SAVED: Final = "the names of its files end as Keras 3 asks"
_PRETRAINED: Final = "the weights of ImageNet that it loads by default were not tried"
_DEEP: Final = "of its kind only smaller networks were compared with those of `keras_contrib`"
_UNLIKE_CONTRIB: Final = {
    "ResNet152": "it raised in `keras_contrib`: nothing is there to compare it with",
    "SnapshotModelCheckpoint": _SAVED,
    "SnapshotCallbackBuilder": f"{_SAVED}, and the best weights are those of `val_accuracy`",
    "ConvolutionAware": _RANDOM,
    "TensorBoardGrouped": "files and tags are those of the callback of Keras 3",
    **dict.fromkeys(("DenseNetImageNet121", "NASNetMobile", "NASNetLarge"), _PRETRAINED),
    **dict.fromkeys(("DenseNetImageNet161", "DenseNetImageNet169"), _PRETRAINED),
    **dict.fromkeys(("DenseNetImageNet201", "DenseNetImageNet264", "NASNetCIFAR"), _DEEP),
    "CyclicLR": "losses in its history are means since the epoch began, as Keras 3 logs them",
    "WideResidualNetwork": "the weights of CIFAR-10 that it loads by default were not tried",
}
WRITTEN: Final = (
    *("gelu", "hardshrink", "lisht", "mish", "snake", "softshrink", "sparsemax", "tanhshrink"),
    *("sigmoid_focal_crossentropy", "SigmoidFocalCrossEntropy", "triplet_semihard_loss"),
    *("TripletSemiHardLoss", "triplet_hard_loss", "TripletHardLoss", "contrastive_loss"),
    *("ContrastiveLoss", "giou_loss", "GIoULoss", "pinball_loss", "PinballLoss"),
    *("WeightedKappaLoss", "CohenKappa", "MatthewsCorrelationCoefficient", "HammingLoss"),
    *("MultiLabelConfusionMatrix", "AdamW", "SGDW", "LazyAdam", "RectifiedAdam", "LAMB"),
    *("Lookahead", "CyclicalLearningRate", "TriangularCyclicalLearningRate"),
    *("Triangular2CyclicalLearningRate", "ExponentialCyclicalLearningRate", "GELU", "Maxout"),
    *("StochasticDepth", "WeightNormalization", "transform", "rotate", "translate"),
    *("angles_to_projective_transforms", "translations_to_projective_transforms"),
    *("compose_transforms", "gaussian_filter2d", "InstanceNormalization", "F1Score"),
    *("FBetaScore", "RSquare", "MovingAverage", "SWA", "AverageModelCheckpoint", "Yogi"),
    *("cutout", "random_cutout"),
    *("Sampler", "CustomSampler", "TrainingSampler", "ScheduledEmbeddingTrainingSampler"),
    *("ScheduledOutputTrainingSampler", "GreedyEmbeddingSampler", "SampleEmbeddingSampler"),
    *("InferenceSampler", "Decoder", "BaseDecoder", "dynamic_decode", "BasicDecoder"),
    *("BasicDecoderOutput", "AttentionMechanism", "LuongAttention", "BahdanauAttention"),
    *("AttentionWrapper", "AttentionWrapperState", "hardmax", "sequence_loss", "SequenceLoss"),
    "tile_batch",
    *("AdaptiveAveragePooling1D", "AdaptiveMaxPooling1D", "AdaptiveAveragePooling2D"),
    *("AdaptiveMaxPooling2D", "AdaptiveAveragePooling3D", "AdaptiveMaxPooling3D"),
    *("SpatialPyramidPooling2D", "MaxUnpooling2D", "MaxUnpooling2DV2"),
    *("FilterResponseNormalization", "PoincareNormalize", "TLU", "Snake", "Sparsemax"),
    *("NoisyDense", "PolynomialCrossing", "EmbeddingBag", "MultiHeadAttention"),
    *("CorrelationCost", "NASCell", "PeepholeLSTMCell", "LayerNormLSTMCell"),
    *("LayerNormSimpleRNNCell", "ESNCell", "ESN", "rrelu", "lifted_struct_loss"),
    *("LiftedStructLoss", "npairs_loss", "NpairsLoss", "npairs_multilabel_loss"),
    *("NpairsMultilabelLoss", "sparsemax_loss", "SparsemaxLoss", "GeometricMean"),
    *("HarmonicMean", "MeanMetricWrapper", "hamming_distance", "hamming_loss_fn"),
    *("KendallsTauB", "KendallsTauC", "SpearmansRank", "PearsonsCorrelation", "AdaBelief"),
    *("NovoGrad", "COCOB", "ConditionalGradient", "ProximalAdagrad", "MultiOptimizer"),
    *("AveragedOptimizerWrapper", "DecoupledWeightDecayExtension"),
    *("extend_with_decoupled_weight_decay", "TimeStopping", "TQDMProgressBar", "Number"),
    *("Initializer", "Regularizer", "Constraint", "Activation", "Optimizer", "TensorLike"),
    *("FloatTensorLike", "AcceptableDTypes"),
    *("crf_filtered_inputs", "crf_unary_score", "crf_binary_score", "crf_sequence_score"),
    *("crf_multitag_sequence_score", "crf_log_norm", "crf_forward", "crf_log_likelihood"),
    *("viterbi_decode", "CrfDecodeForwardRnnCell", "crf_decode_forward", "crf_decode_backward"),
    *("crf_decode", "crf_constrained_decode", "CRF", "CRFModelWrapper"),
    *("parse_time", "skip_gram_sample", "skip_gram_sample_with_text_vocab"),
    *("gather_tree", "gather_tree_from_array", "safe_cumprod", "monotonic_attention"),
    *("LuongMonotonicAttention", "BahdanauMonotonicAttention", "BeamSearchDecoder"),
    *("BeamSearchDecoderOutput", "BeamSearchDecoderState", "FinalBeamSearchDecoderOutput"),
    *("interpolate_bilinear", "dense_image_warp", "interpolate_spline", "sparse_image_warp"),
    *("resampler", "mean_filter2d", "median_filter2d", "sharpness", "equalize", "blend"),
    *("adjust_hsv_in_yiq", "random_hsv_in_yiq", "shear_x", "shear_y", "translate_xy"),
    *("connected_components", "euclidean_dist_transform"),
)
"""The definitions in ``kdoctor.reference.addons`` that have the name of what they stand for."""

WRITTEN_OF_CONTRIB: Final = (
    *("CRF", "crf_loss", "crf_nll", "crf_viterbi_accuracy", "crf_marginal_accuracy"),
    *("crf_accuracy", "jaccard_distance", "DSSIMObjective", "InstanceNormalization"),
    *("GroupNormalization", "Swish", "SineReLU", "SubPixelUpscaling", "squash", "Clip"),
    *("CyclicLR", "load_data"),
    *("ResNet", "ResNet18", "ResNet34", "ResNet50", "ResNet101", "ResNet152"),
    *("WideResidualNetwork", "FTML", "ftml", "LARS", "lars", "Padam", "Yogi", "clip", "PELU"),
    *("SReLU", "CosineDense", "CosineConvolution2D", "CosineConv2D", "Capsule"),
    *("ConvolutionAware", "DeadReluDetector", "SnapshotModelCheckpoint"),
    *("SnapshotCallbackBuilder", "TensorBoardGrouped", "DenseNet", "DenseNetFCN"),
    *("DenseNetImageNet121", "DenseNetImageNet161", "DenseNetImageNet169"),
    *("DenseNetImageNet201", "DenseNetImageNet264", "NASNet", "NASNetLarge", "NASNetMobile"),
    "NASNetCIFAR",
)
"""The same of ``kdoctor.reference.contrib``."""


class _Name(msgspec.Struct, frozen=True):
    """``parameters``: without types; ``file``: the module below the package that defines it."""

    parameters: str
    file: str


class _Record(msgspec.Struct, frozen=True):
    source: str
    names: dict[str, _Name]


class Package:
    """The helpers of one package by their names below it, read when the first is asked for.

    ``codes`` is what the codes of its definitions begin with: some are called like another's.
    """

    def __init__(
        self, name: str, file: str, written: tuple[str, ...], unlike: dict[str, str], codes: str
    ) -> None:
        self.name = name
        self.written = written
        self.codes = codes
        self._file = file
        self._unlike = unlike

    @cached_property
    def recorded(self) -> _Record:
        """The public names of the last release, as `python -m tools.addons_oracle` has them."""
        data = Path(__file__).with_name(self._file).read_bytes()
        return msgspec.json.decode(data, type=_Record)

    @cached_property
    def _found(self) -> Mapping[str, Helper]:
        return dict(self._helpers())

    def _helpers(self) -> Iterator[tuple[str, Helper]]:
        for name, about in self.recorded.names.items():
            home, _, leaf = name.rpartition(".")
            if leaf in self.written:
                unlike, code = self._unlike.get(leaf, ""), f"{self.codes}{leaf}"
                helper = Helper(code, home, leaf, unlike=unlike, package=self.name)
                yield name, helper
                yield f"{about.file}.{leaf}", helper

    def of(self, name: str) -> tuple[Helper, int] | None:
        """Return the helper that a dotted name is or reads from, and the parts behind it."""
        rest = name.removeprefix(f"{self.name}.")
        beyond = 0
        while rest:
            if (found := self._found.get(rest)) is not None:
                return found, beyond
            rest, _, _ = rest.rpartition(".")
            beyond += 1
        return None

    def all(self) -> tuple[Helper, ...]:
        """Return each helper once."""
        return tuple(dict.fromkeys(self._found.values()))


ADDONS: Final = Package(PACKAGE, "addons.json", WRITTEN, _UNLIKE, "")
IN_CONTRIB: Final = Package(
    CONTRIB, "contrib.json", WRITTEN_OF_CONTRIB, _UNLIKE_CONTRIB, "contrib."
)
PACKAGES: Final = {each.name: each for each in (ADDONS, IN_CONTRIB)}
