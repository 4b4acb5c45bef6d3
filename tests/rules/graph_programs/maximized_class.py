import numpy as np
import keras.backend as K


class ActivationMaximization:
    def __init__(self, model, decay=1e-3):
        self.model = model
        self.decay = decay
        self._functions = {}

    def _function(self, category):
        if category not in self._functions:
            score = self.model.output[0, category]
            loss = score - self.decay * K.sum(K.square(self.model.input))
            gradients = K.gradients(loss, self.model.input)[0]
            norm = K.sqrt(K.sum(K.square(gradients))) + K.epsilon()
            self._functions[category] = K.function(
                [self.model.input, K.learning_phase()], [score, gradients / norm]
            )
        return self._functions[category]

    def maximize(self, category, shape, steps):
        image = np.linspace(-1, 1, 192).reshape(shape)
        for _ in range(steps):
            score, direction = self._function(category)([image, 0])
            image += 0.5 * direction
        return np.array(score), image


maximization = ActivationMaximization(make_model())
result = [each for number in range(3) for each in maximization.maximize(number, (1, 8, 8, 3), 4)]
