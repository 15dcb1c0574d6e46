"""Keras-style training on tnp arrays: not built yet, so this package is empty."""
