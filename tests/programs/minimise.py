"""Make a failing program short: drop its statements one after another while it still fails."""

from collections.abc import Callable


def minimise(statements: list[str], fails: Callable[[list[str]], bool], *, tries: int = 2000) -> list[str]:
    """Return a list of statements that still fails and that no single removal shortens (within `tries` runs)."""
    chunk = max(len(statements) // 2, 1)
    while tries > 0:
        start, shorter = 0, False
        while start < len(statements) and tries > 0:
            candidate = statements[:start] + statements[start + chunk :]
            tries -= 1
            if candidate and fails(candidate):
                statements, shorter = candidate, True
            else:
                start += chunk
        if chunk == 1 and not shorter:
            break
        chunk = max(chunk // 2, 1)
    return statements
