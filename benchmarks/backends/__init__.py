"""Code that runs on TensorFlow only, run on JAX and PyTorch before and after kdoctor's fix."""
