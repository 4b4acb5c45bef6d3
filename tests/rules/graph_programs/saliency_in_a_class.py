import keras.backend as K
import numpy as np


class GradientSaliency(object):
    def __init__(self, model, output_index=0):
        self.gradients = K.gradients(model.output[0][output_index], model.input)
        self.compute_gradients = K.function(inputs=[model.input], outputs=self.gradients)

    def get_mask(self, input_image):
        return self.compute_gradients([np.expand_dims(input_image, axis=0)])[0][0]

    def get_smoothed_mask(self, input_image, samples=4):
        random = np.random.RandomState(3)
        total = np.zeros_like(input_image)
        for _ in range(samples):
            total += self.get_mask(input_image + random.normal(0, 0.1, input_image.shape)) ** 2
        return total / samples


image = np.linspace(0, 1, 192).reshape(8, 8, 3)
saliency = GradientSaliency(make_model(), 1)
result = [saliency.get_mask(image), saliency.get_smoothed_mask(image)]
