"""The checks, one module per topic. Each reads an environment and changes nothing."""
