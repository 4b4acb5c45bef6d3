"""A pytest plugin that puts names back which are gone from NumPy and Python, before tests run."""

import old_aliases

old_aliases.put_back()
