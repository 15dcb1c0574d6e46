"""How errors read that are not NumPy's own."""


def explain(did: str, got: str, expected: str, hint: str) -> str:
    """The text of an error.

    >>> print(explain("vmap: lengths", "3 and 4", "one length", "in_axes"))
    vmap: lengths
      got:      3 and 4
      expected: one length
      hint:     in_axes
    """
    return f"{did}\n  got:      {got}\n  expected: {expected}\n  hint:     {hint}"
