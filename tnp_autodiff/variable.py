"""Variables: named arrays that programs train, as TensorFlow has them."""

import operator
from collections.abc import Callable
from typing import Any

import tnp
from tnp import hot, tracing

accessed: list[Callable[["Variable"], None]] = []  # told when the value of a trainable variable is read


class Variable:
    """An array that is assigned to, and that tapes watch by themselves when its value is read.

    It stands for its array in operators, indexing, and NumPy's functions under tnp.

    Parameters
    ----------
    initial_value : array_like
        Copied.
    trainable : bool
        Do tapes watch it when its value is read?
    name : str, optional
    dtype : dtype, optional

    Attributes
    ----------
    value : tnp.ndarray
        The array itself: views of it show what is assigned.
    trainable, name, shape, dtype

    Notes
    -----
    The gradient by a variable is the one by its value when the tape first met it.

    >>> from tnp_autodiff import GradientTape, Variable
    >>> v = Variable([1.0, 2.0], name="v")
    >>> with GradientTape() as tape:
    ...     y = (v * v).sum()
    >>> tape.gradient(y, v)
    array([2., 4.])
    >>> v.assign_sub([1.0, 1.0]).value
    array([0., 1.])
    """

    __array_ufunc__ = None  # NumPy's operators leave it to this class
    __hash__ = object.__hash__

    def __init__(self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        if isinstance(initial_value, Variable):
            initial_value = initial_value.value
        self._array = tnp.array(initial_value, dtype=dtype)
        hot.cell_of(self._array)
        self.trainable = trainable
        self.name = name or "Variable"
        tracing.stand_ins[Variable] = _value
        tracing.offer_calls()

    @property
    def value(self) -> Any:
        if self.trainable:
            for tell in accessed:
                tell(self)
        return self._array

    def assign(self, value: Any) -> "Variable":
        """Replace the value, in place."""
        self._array[...] = value
        return self

    def assign_add(self, value: Any) -> "Variable":
        """Add to the value, in place."""
        self._array += value
        return self

    def assign_sub(self, value: Any) -> "Variable":
        """Subtract from the value, in place."""
        self._array -= value
        return self

    def numpy(self) -> Any:
        """A NumPy array with a copy of the value."""
        return tnp.to_numpy(self._array.copy())

    shape = property(lambda self: self._array.shape)
    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.value.__array__(dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        """The array's methods and attributes."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.value, name)

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = value

    def __len__(self) -> int:
        return len(self._array)

    def __bool__(self) -> bool:
        return bool(self._array)

    def __float__(self) -> float:
        return float(self._array)

    def __int__(self) -> int:
        return int(self._array)

    def __repr__(self) -> str:
        return f"<Variable {self.name!r} {self._array!r}>"


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, Variable) else x


def _install(name: str) -> None:
    f = getattr(operator, name)
    setattr(Variable, f"__{name.strip('_')}__", lambda self, other: f(self.value, _plain(other)))
    setattr(Variable, f"__r{name.strip('_')}__", lambda self, other: f(other, self.value))


for _name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split():
    _install(_name)


def _install_comparison(name: str) -> None:
    f = getattr(operator, name)
    setattr(Variable, f"__{name}__", lambda self, other: f(self.value, _plain(other)))


def _install_unary(name: str) -> None:
    f = getattr(operator, name)
    setattr(Variable, f"__{name}__", lambda self: f(self.value))


def _install_in_place(name: str) -> None:
    f = getattr(operator, f"i{name}")
    setattr(Variable, f"__i{name}__", lambda self, other: _in_place(self, f, other))


for _name in "lt le gt ge eq ne".split():
    _install_comparison(_name)
for _name in "neg pos abs invert".split():
    _install_unary(_name)
for _name in "add sub mul truediv".split():  # in place on the variable's own memory
    _install_in_place(_name)


def _in_place(variable: Variable, f: Any, other: Any) -> Variable:
    f(variable._array, _plain(other))
    return variable


_value = operator.attrgetter("value")
