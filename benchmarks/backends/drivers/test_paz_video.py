from cnn2Plus1 import Conv2Plus1D, Project, ResidualMain, ResizeVideo
from harness import real, trains

VIDEO = (4, 8, 8, 3)


def test_convolution():
    trains(Conv2Plus1D(4, (3, 3, 3), "same"), real(*VIDEO))


def test_residual():
    trains(ResidualMain(4, (3, 3, 3)), real(*VIDEO))


def test_project():
    trains(Project(4), real(*VIDEO))


def test_resize():
    trains(ResizeVideo(4, 4), real(*VIDEO))
