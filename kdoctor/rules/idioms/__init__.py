"""KD5: code written for graphs, symbolic tensors and training loops of older versions."""
