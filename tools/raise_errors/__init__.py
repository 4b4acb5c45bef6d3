"""Run small programs that fail, in the environments that they fail in, and keep their errors."""
