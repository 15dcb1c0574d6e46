"""NumPy's own installed test suite, run against tnp.  See README.md; `python -m tests.conformance --help`."""
