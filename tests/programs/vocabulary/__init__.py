"""The statements programs are made of: weighted functions from a `Writer` to the text of a statement.

One file per kind of statement. Left out, because NumPy itself gives no definite answer: uninitialised memory,
out-of-range floats cast to unsigned integers, the sign of NaN, 1-D assignments between overlapping slices of
unlike steps, predicates (isnan and kin) into a strided ``out``, and what a refused integer power left in its ``out``.
"""

from tests.programs.vocabulary import (
    creation,
    elementwise,
    foreign,
    indexing,
    other,
    reads,
    reductions,
    state,
    views,
    writes,
)

START = creation.STATEMENTS
STATEMENTS = [
    *creation.STATEMENTS,
    *elementwise.STATEMENTS,
    *reductions.STATEMENTS,
    *views.STATEMENTS,
    *writes.STATEMENTS,
    *indexing.STATEMENTS,
    *state.STATEMENTS,
    *foreign.STATEMENTS,
    *reads.STATEMENTS,
    *other.STATEMENTS,
]
