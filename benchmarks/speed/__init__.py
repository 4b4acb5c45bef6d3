"""How fast kdoctor is beside its peers: ``python -m benchmarks.speed``."""
