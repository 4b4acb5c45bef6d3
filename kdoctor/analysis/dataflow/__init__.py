"""Dataflow: points-to, uses, escapes and captures of values."""
