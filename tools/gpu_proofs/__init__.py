"""Prove rewrites on a machine that has a GPU and no TensorFlow.

The old side of a rewrite runs on TensorFlow, and a machine with a GPU may have PyTorch and JAX
alone. So the questions travel: here the old side runs on drawn inputs and tells which of them it
takes, there the new side runs on these, and here both are compared, as ``run_rewrite`` does.

    here:   python -m tools.gpu_proofs.ask QUESTIONS
    there:  python -m tools.gpu_proofs.answer QUESTIONS ANSWERS --backend torch
    here:   python -m tools.gpu_proofs.judge ANSWERS...

``judge`` writes ``record.json``, and ``docs/gpu.md`` from it. What is safe is decided by the proofs
on TensorFlow alone.
"""
