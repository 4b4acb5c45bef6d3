"""A two-storey U-Net, for when no pretrained encoder is wanted."""
from keras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Input,
    MaxPooling2D,
    UpSampling2D,
    concatenate,
)
from keras.models import Model


def block(x, filters):
    x = Conv2D(filters, (3, 3), padding='same', use_bias=False)(x)
    x = BatchNormalization()(x)
    return Activation('relu')(x)


def small_unet(height, width, channels=3, filters=8):
    inputs = Input(shape=(height, width, channels))
    upper = block(inputs, filters)
    lower = block(MaxPooling2D((2, 2))(upper), 2 * filters)
    joined = concatenate([upper, UpSampling2D((2, 2))(lower)], axis=-1)
    outputs = Conv2D(1, (1, 1), activation='sigmoid')(block(joined, filters))
    return Model(inputs, outputs)
