"""Nested structures of arrays, as tnp has them."""

from tnp.core.pytree import flatten, map_leaves

__all__ = ["flatten", "map_leaves"]
