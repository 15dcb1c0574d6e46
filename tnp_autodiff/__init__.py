"""Differentiation for tnp arrays: not built yet, so this package is empty."""
