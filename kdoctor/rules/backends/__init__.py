"""Code that runs on TensorFlow only. Asked with `--backend` only."""
