"""Gradients inside a program: Grad-CAM, saliency, gradient penalty, style loss.

What code of Keras 2 asked ``K.gradients`` for. Each backend has its own gradients; only
``value_and_gradient`` knows which.
"""

import keras
from keras import ops


def value_and_gradient(function, x):
    """Return ``function(x)``, one number, and its gradient, of the shape of ``x``.

    The gradient can be differentiated once more, as in a loss that contains it.
    """
    x = ops.convert_to_tensor(x)
    if keras.config.backend() == "tensorflow":
        import tensorflow as tf  # noqa: PLC0415 - where it is the backend

        with tf.GradientTape() as tape:
            tape.watch(x)
            value = function(x)
        return value, tape.gradient(value, x)
    if keras.config.backend() == "jax":
        import jax  # noqa: PLC0415 - where it is the backend

        return jax.value_and_grad(function)(x)
    import torch  # noqa: PLC0415 - where it is the backend

    with torch.enable_grad():
        x = x if x.requires_grad else x.detach().requires_grad_()
        value = function(x)
        (gradient,) = torch.autograd.grad(value, x, create_graph=True)
    return value, gradient


def gradcam(model, images, class_index=None, layer=None):
    """Return which places of images speak for a class, ``(batch, rows, columns)``, 0 and more.

    Selvaraju et al. 2017, https://arxiv.org/abs/1610.02391, equations 1 and 2. There the score is
    that before softmax: of a model that ends with softmax the maps are weaker, and others.

    Args:
        model: a functional or sequential model, of which everything behind ``layer`` hangs on its
            output alone.
        images: one batch, as ``model`` takes it.
        class_index: a class, or one for each image; None for the one that the model predicts.
        layer: the name of a layer with output ``(batch, rows, columns, channels)``; None for the
            last of these.
    """
    if layer is None:
        known = [each for each in model.layers if len(each.output.shape) == 4]
        layer = known[-1].name
    features = model.get_layer(layer).output
    inputs = model.inputs if len(model.inputs) > 1 else model.inputs[0]
    maps = keras.Model(inputs, features)(images, training=False)
    behind = keras.Model(features, model.outputs[0])
    _, slopes = value_and_gradient(
        lambda maps: _score(behind(maps, training=False), class_index), maps
    )
    weights = ops.mean(slopes, axis=(1, 2), keepdims=True)
    return ops.relu(ops.sum(weights * maps, axis=-1))


def saliency(model, images, class_index=None):
    """Return how much the score of a class hangs on each pixel, ``(batch, rows, columns)``.

    Simonyan et al. 2013, https://arxiv.org/abs/1312.6034, section 3.1: the largest slope among
    the channels. Arguments as in ``gradcam``.
    """
    _, slopes = value_and_gradient(
        lambda images: _score(model(images, training=False), class_index), images
    )
    return ops.max(ops.abs(slopes), axis=-1)


def gradient_penalty(critic, real, fake, share=None):
    """Return the mean of (‖∇D(x)‖ - 1)², at points x between real and fake samples.

    Gulrajani et al. 2017, https://arxiv.org/abs/1704.00028, equation 3, without λ. It can be
    differentiated for the weights of the critic.

    Args:
        critic: a model or function from ``(batch, …)`` to one number for each sample.
        real: samples.
        fake: as many samples.
        share: how much of each is real, ``(batch,)``; None draws it.
    """
    real, fake = ops.convert_to_tensor(real), ops.convert_to_tensor(fake)
    count = ops.shape(real)[0]
    share = keras.random.uniform((count,), dtype=real.dtype) if share is None else share
    share = ops.reshape(ops.cast(share, real.dtype), (-1,) + (1,) * (len(real.shape) - 1))
    between = share * real + (1 - share) * fake
    _, slopes = value_and_gradient(lambda x: ops.sum(critic(x)), between)
    squares = ops.sum(ops.reshape(ops.square(slopes), (count, -1)), axis=1)
    # The root has no slope at 0.
    return ops.mean(ops.square(ops.sqrt(ops.maximum(squares, 1e-12)) - 1))


def gram_matrix(features):
    """Return the products of all pairs of channels of ``(batch, rows, columns, channels)``."""
    channels = features.shape[-1]
    flat = ops.reshape(features, (-1, features.shape[1] * features.shape[2], channels))
    return ops.matmul(ops.transpose(flat, (0, 2, 1)), flat)


def style_loss(features, wanted):
    """Return how far the style of features is from the wanted one, for each image.

    Gatys et al. 2015, https://arxiv.org/abs/1508.06576, equation 4: of one layer.

    Args:
        features: ``(batch, rows, columns, channels)``.
        wanted: features of the picture that has the style, of the same shape.
    """
    rows, columns, channels = features.shape[1:]
    apart = ops.square(gram_matrix(features) - gram_matrix(wanted))
    return ops.sum(apart, axis=(1, 2)) / (4.0 * channels**2 * (rows * columns) ** 2)


def _score(outputs, class_index):
    """Return the scores of the classes, one for each sample, added up."""
    if class_index is None:
        class_index = ops.argmax(outputs, axis=-1)
    index = ops.cast(ops.broadcast_to(class_index, ops.shape(outputs)[:1]), "int32")
    return ops.sum(ops.take_along_axis(outputs, index[:, None], axis=1))
