"""The API tables against installed releases: run ``python -m tools.check_api``."""
