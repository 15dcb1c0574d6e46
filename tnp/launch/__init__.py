"""Running unchanged NumPy programs: what ``python -m tnp`` is made of."""
