import numpy as np
from keras import backend as K
from keras.models import Model

base = make_model()
model = Model(base.input, base.output)
x = np.linspace(0, 1, 192).reshape(1, 8, 8, 3)

preds = model.predict(x)
class_output = model.output[:, np.argmax(preds[0])]
last_conv_layer = model.get_layer("conv2")
grads = K.gradients(class_output, last_conv_layer.output)[0]
pooled_grads = K.mean(grads, axis=(0, 1, 2))
iterate = K.function([model.input], [pooled_grads, last_conv_layer.output[0]])
pooled_grads_value, conv_layer_output_value = iterate([x])
for i in range(5):
    conv_layer_output_value[:, :, i] *= pooled_grads_value[i]
heatmap = np.mean(conv_layer_output_value, axis=-1)
result = [pooled_grads_value, heatmap]
