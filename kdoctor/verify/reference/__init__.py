"""Run the reference on a backend and a device, and measure its errors.

``run`` starts a process for each backend and device and reads its results; everything else here
runs in such a process, with Keras. Results are compared with closed forms in NumPy's float64, with
finite differences, and with the implementations in Keras and tf_keras.
"""
