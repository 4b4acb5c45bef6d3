"""Run code before and after on real frameworks, and compare: the proof behind each safe fix."""
