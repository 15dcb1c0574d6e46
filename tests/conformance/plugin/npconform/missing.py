"""A public name that the substitute lacks."""

from typing import Any, ClassVar, NoReturn


class Missing:
    """Stands for NumPy's object while modules are collected; an error once a test uses it."""

    armed: ClassVar[bool] = False

    def __init__(self, path: str, original: Any) -> None:
        self.__name__ = self.__qualname__ = path
        self._original = original

    def _refuse(self) -> NoReturn:
        raise NotImplementedError(f"npconform: missing name {self.__name__}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._refuse() if Missing.armed else self._original(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self._refuse() if Missing.armed else self._original[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse() if Missing.armed else getattr(self._original, name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._original,)

    def __repr__(self) -> str:
        return f"<missing {self.__name__}>"
