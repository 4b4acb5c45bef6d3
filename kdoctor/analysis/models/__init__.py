"""The layers and models of a file: user classes, sublayers, weights, outputs."""
