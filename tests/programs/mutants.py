"""NumPy with one fault each: what the program tests must find.

A fault is either a changed module (a function that is slightly wrong) or a changed program (what a lazy engine
that forgets a rule would make of it). `tests/programs/test_mutants.py` shows that each is found.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy

Change = Callable[[ast.Module], ast.Module]


class Mutant:
    """A module that is NumPy except for some attributes; `change` is what it makes of a program."""

    def __init__(self, change: Change = lambda tree: tree, **attributes: Any) -> None:
        self.change = change
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(numpy, name)


# ------------------------------------------------------------------------------------------------ changed functions
def _one_ulp_off(x: Any, *args: Any, **kwargs: Any) -> Any:
    y = numpy.exp(x, *args, **kwargs)
    if isinstance(y, numpy.ndarray) and y.dtype.kind == "f" and y.ndim and y.size > 3 and not args and not kwargs:
        y[..., -1] = numpy.nextafter(y[..., -1], numpy.inf)
    return y


def _sum_in_order(a: Any, axis: Any = None, **kwargs: Any) -> Any:
    a = numpy.asarray(a)
    if kwargs or axis not in (-1, a.ndim - 1) or a.dtype.kind != "f" or not a.size:
        return numpy.sum(a, axis=axis, **kwargs)
    return numpy.add.accumulate(a, axis=-1)[..., -1]


def _without_warnings(name: str) -> Callable[..., Any]:
    def quiet(*args: Any, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return getattr(numpy, name)(*args, **kwargs)

    return quiet


def _in_c_order(a: Any, *args: Any, **kwargs: Any) -> Any:
    return numpy.zeros_like(a, order="C") if not args and not kwargs else numpy.zeros_like(a, *args, **kwargs)


def _where_as_float(condition: Any, *args: Any) -> Any:
    result = numpy.where(condition, *args)
    return result.astype("f8") if getattr(result, "dtype", None) == numpy.dtype("f4") else result


# ------------------------------------------------------------------------------------------------ changed programs
def _at(node: ast.AST, text: str) -> ast.stmt:
    """A statement in the place of `node`."""
    (statement,) = ast.parse(text).body
    for part in ast.walk(statement):
        if hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return statement


def _operator(node: ast.AugAssign) -> str:
    return ast.unparse(node).removeprefix(f"{ast.unparse(node.target)} ").split("=")[0]


class _NoAliases(ast.NodeTransformer):
    """Slices are copies."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.value, ast.Subscript) and isinstance(node.targets[0], ast.Name):
            return _at(node, f"{node.targets[0].id} = np.array({ast.unparse(node.value)})")
        return node


class _Rebinds(ast.NodeTransformer):
    """``a += b`` makes a new array."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Name):
            name = node.target.id
            return _at(node, f"{name} = {name} {_operator(node)} ({ast.unparse(node.value)})")
        return node


class _CountsOnce(ast.NodeTransformer):
    """``np.add.at(a, i, v)`` is ``a[i] += v``."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "np.add.at":
            a, i, v = map(ast.unparse, call.args)
            return _at(node, f"{a}[{i}] += {v}")
        return node


class _MakesVersions(ast.NodeTransformer):
    """A write to part of an array makes a new version, which older views do not see."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return [_at(node, f"{target.value.id} = {target.value.id}.copy()"), node]
        return node


class _ReadsWhatItWrote(ast.NodeTransformer):
    """An overlapping ``a[1:] += a[:-1]`` runs element by element."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Subscript) and isinstance(node.value, ast.Subscript):
            target, value = ast.unparse(node.target), ast.unparse(node.value)
            return _at(node, f"for i_ in range(len({target})): {target}[i_] {_operator(node)}= {value}[i_]")
        return node


class _ForgetsErrstate(ast.NodeTransformer):
    """The errstate is that of the reader, not that of the call."""

    def visit_With(self, node: ast.With) -> Any:
        return node.body if "errstate" in ast.unparse(node.items[0]) else node


class _ForgetsLines(ast.NodeTransformer):
    """Warnings come from the line after the call's."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        return ast.increment_lineno(node) if isinstance(node.value, ast.BinOp) else node


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _is_operation(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.BinOp)
        and not any(isinstance(part, ast.Call) for part in ast.walk(node))
    )


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(block := getattr(node, "body", None), list):
            yield block


def _late(tree: ast.Module) -> ast.Module:
    """An operation runs after the statement that follows it, unless that one names the result or deletes something."""
    for block in _blocks(tree):
        for k in range(len(block) - 1, 0, -1):
            first, second = block[k - 1], block[k]
            if _is_operation(first) and not isinstance(second, ast.Delete):
                assert isinstance(first, ast.Assign)
                if not _names(first.targets[0]) & _names(second):
                    block[k - 1], block[k] = second, first
    return tree


def _by(transformer: type[ast.NodeTransformer]) -> Change:
    return lambda tree: transformer().visit(tree)


MUTANTS: dict[str, Mutant] = {
    "exp one ulp off in the last element": Mutant(exp=_one_ulp_off),
    "sums in order": Mutant(sum=_sum_in_order),
    "no warnings from sqrt, log and reciprocal": Mutant(
        **{name: _without_warnings(name) for name in ("sqrt", "log", "reciprocal")}
    ),
    "zeros_like in C order": Mutant(zeros_like=_in_c_order),
    "where promotes float32": Mutant(where=_where_as_float),
    "slices are copies": Mutant(_by(_NoAliases)),
    "in-place operators rebind": Mutant(_by(_Rebinds)),
    "ufunc.at counts duplicates once": Mutant(_by(_CountsOnce)),
    "pending readers see later writes": Mutant(_late),
    "writes make versions that views do not see": Mutant(_by(_MakesVersions)),
    "overlapping writes read what they wrote": Mutant(_by(_ReadsWhatItWrote)),
    "the errstate is the reader's": Mutant(_by(_ForgetsErrstate)),
    "warnings come from another line": Mutant(_by(_ForgetsLines)),
}
