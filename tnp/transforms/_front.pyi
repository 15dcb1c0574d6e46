from typing import Any

class Matcher:
    plan: Any
    def __init__(
        self, plan: Any, runner: Any, asked: Any, sources: list[Any], leaves: list[Any], sizes: list[int],
        blocks: list[Any], fresh: list[Any], results: list[Any], form: int, build: Any, nargs: int,
    ) -> None: ...  # fmt: skip

class Front:
    def __init__(self, *variables: Any) -> None: ...
    def add_matcher(self, m: Matcher) -> None: ...
    def drop_matchers(self) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
