from harness import real, trains
from keras_layers.keras_layer_DecodeDetections import DecodeDetections
from keras_layers.keras_layer_DecodeDetectionsFast import DecodeDetectionsFast
from keras_layers.keras_layer_L2Normalization import L2Normalization


def test_normalization():
    trains(L2Normalization(), real(4, 4, 8))


def test_decode():
    trains(DecodeDetections(img_height=64, img_width=64, top_k=5), real(6, 15))


def test_decode_fast():
    trains(DecodeDetectionsFast(img_height=64, img_width=64, top_k=5), real(6, 15))
