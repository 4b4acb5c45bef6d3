import gan
import gd
from harness import real, trains


def test_dcgan_generator():
    trains(gan.Generator(), real(100))


def test_dcgan_discriminator():
    trains(gan.Discriminator(), real(64, 64, 3))


def test_pix2pix_downsample():
    trains(gd.Downsample(8, 4), real(16, 16, 3), training=True)


def test_pix2pix_upsample():
    trains(gd.Upsample(8, 4), real(8, 8, 8), real(16, 16, 8), training=True)


def test_pix2pix_discriminator_block():
    trains(gd.DiscDownsample(8, 4), real(16, 16, 3), training=True)
