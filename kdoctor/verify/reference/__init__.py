"""Run the reference on a backend and a device, and measure how far it is from the truth.

``run`` starts a process for each backend and device and hears its results; all else here runs in
such a process, with Keras: the truth are closed forms in NumPy's float64, finite differences, and
what Keras and tf_keras have themselves.
"""
