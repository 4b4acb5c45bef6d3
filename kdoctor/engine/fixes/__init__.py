"""Fixes from findings to bytes on disk, and back."""
