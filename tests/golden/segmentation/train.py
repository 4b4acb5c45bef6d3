"""Train a segmentation model.

    python train.py --small          # our own U-Net, on generated discs
    python train.py --backbone resnet34
"""
import argparse
import os

import numpy as np
from keras import config
from keras.callbacks import EarlyStopping, ReduceLROnPlateau

from losses import bce_dice_loss, dice_coefficient, jaccard_coefficient, pixel_accuracy
from unet import small_unet

SIZE = 32


def discs(count, seed=0):
    """Images of one bright disc each, and its mask."""
    rng = np.random.RandomState(seed)
    grid = np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing='ij'), axis=-1)
    centres = rng.randint(8, SIZE - 8, size=(count, 1, 1, 2))
    masks = (np.sum((grid[None] - centres) ** 2, axis=-1, keepdims=True) < 36).astype('float32')
    images = masks * 0.7 + rng.uniform(0, 0.3, size=(count, SIZE, SIZE, 3))
    return images.astype('float32'), masks


def pretrained(backbone):
    os.environ['SM_FRAMEWORK'] = 'tf.keras'
    import segmentation_models as sm
    model = sm.Unet(backbone, classes=1, activation='sigmoid', encoder_weights=None)
    print('float type', config.floatx())
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--small', action='store_true')
    parser.add_argument('--backbone', default='resnet34')
    parser.add_argument('--epochs', type=int, default=1)
    args = parser.parse_args()

    model = small_unet(SIZE, SIZE) if args.small else pretrained(args.backbone)
    model.compile(optimizer='adam', loss=bce_dice_loss,
                  metrics=[dice_coefficient, jaccard_coefficient, pixel_accuracy])
    images, masks = discs(16)
    callbacks = [ReduceLROnPlateau(monitor='loss', patience=2), EarlyStopping(monitor='loss', patience=3)]
    model.fit(images, masks, batch_size=8, epochs=args.epochs, callbacks=callbacks, verbose=0)
    loss, dice, jaccard, accuracy = model.evaluate(images, masks, verbose=0)
    print('loss finite:', bool(np.isfinite(loss)), 'masks:', model.predict(images, verbose=0).shape)


if __name__ == '__main__':
    main()
