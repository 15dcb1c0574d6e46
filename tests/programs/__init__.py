"""Random NumPy programs, run by NumPy and by tnp and compared after every observation.

``python -m tests.programs --count 20000`` runs many of them; see `tests.programs.__main__`.
"""
