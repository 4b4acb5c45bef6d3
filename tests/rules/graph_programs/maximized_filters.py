import numpy as np
from keras import backend as K

model = make_model()


def generate_pattern(layer_name, filter_index, size=8):
    layer_output = model.get_layer(layer_name).output
    loss = K.mean(layer_output[:, :, :, filter_index])
    grads = K.gradients(loss, model.input)[0]
    grads /= K.sqrt(K.mean(K.square(grads))) + 1e-5
    iterate = K.function([model.input], [loss, grads])
    input_img_data = np.random.RandomState(7).random_sample((1, size, size, 3)) * 20 + 128.0
    step = 1.0
    for i in range(6):
        loss_value, grads_value = iterate([input_img_data])
        input_img_data += grads_value * step
    return input_img_data[0], np.array(loss_value)


result = [each for index in range(3) for each in generate_pattern("conv2", index)]
