"""Read the public API of released Keras wheels into ``kdoctor/keras_api/data`` (development only).

Everything is read with ``ast``; no framework is imported. Run ``python -m tools.api_data``.
"""
