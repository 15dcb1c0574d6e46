"""Measurements of tnp against NumPy: `python -m asv_bench.table`, and the same programs for airspeed velocity."""
