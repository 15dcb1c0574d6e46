"""Which public functions have derivatives, name by name: ``python -m tests.tnp_autodiff.derivatives [--write]``.

Every public name of numpy, numpy.linalg, numpy.fft, numpy.random and of tnp's own functions is in one of the lists
below, with a call of it where it has derivatives. What NumPy accepts says of which dtypes. The outcome is
docs/derivatives.md; test_derivatives.py tests every call.
"""

import argparse
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

import tnp

FILE = Path(__file__).resolve().parents[2] / "docs" / "derivatives.md"
SPACES: dict[str, Any] = {
    "numpy": numpy, "numpy.linalg": numpy.linalg, "numpy.fft": numpy.fft, "numpy.random": numpy.random,
    "numpy.random.Generator": numpy.random.Generator, "numpy.ndarray": numpy.ndarray, "tnp": tnp,
}  # fmt: skip
DTYPES = {
    "float16": "e", "float32": "f", "float64": "d", "longdouble": "g", "complex64": "F", "complex128": "D",
    "clongdouble": "G",
}  # fmt: skip

UNARY = """
abs absolute fabs negative positive conj conjugate real imag angle sin cos tan arcsin asin arccos acos arctan atan
sinh cosh tanh arcsinh asinh arctanh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal degrees
radians deg2rad rad2deg sinc nan_to_num sum prod max min amax amin mean std var median ptp cumsum cumprod nansum nanprod
nanmax nanmin nanmean nanstd nanvar nanmedian nancumsum nancumprod average sort copy array asarray asanyarray
ascontiguousarray asfortranarray ravel transpose permute_dims squeeze flip fliplr flipud rot90 atleast_1d atleast_2d
atleast_3d diagonal trace diag diagflat tril triu diff ediff1d trapezoid cov corrcoef sort_complex require
matrix_transpose
"""
BINARY = """
add subtract multiply divide true_divide power pow float_power maximum minimum fmax fmin hypot arctan2 atan2 logaddexp
logaddexp2 copysign remainder mod fmod inner outer vdot vecdot kron
"""
RANDOM = {
    **{n: f"rng.{n}(x, y)" for n in "normal lognormal uniform laplace gumbel logistic".split()},
    **{n: f"rng.{n}(y)" for n in "exponential rayleigh weibull pareto power".split()},
    "triangular": "rng.triangular(x, y, y + 1)", "gamma": "rng.gamma(2, y)", "vonmises": "rng.vonmises(x, 2)",
}  # fmt: skip
CALLS = {
    "numpy": {
        **{name: f"np.{name}(x)" for name in UNARY.split()},
        **{name: f"np.{name}(x, y)" for name in BINARY.split()},
        "arccosh": "np.arccosh(x + 1.5)", "acosh": "np.acosh(x + 1.5)", "clip": "np.clip(x, 0.3, y)",
        "ldexp": "np.ldexp(x, 2)", "divmod": "np.divmod(x, y)[1]", "modf": "np.modf(x)[0]",
        "where": "np.where(x > 0.5, x, y)", "select": "np.select([x > 0.5], [x * y], y)",
        "choose": "np.choose([[0, 1, 1, 0]] * 3, [x, y])",
        "piecewise": "np.piecewise(x, [x > 0.5], [np.square, np.exp])",
        "dot": "np.dot(x, y.T)", "matmul": "np.matmul(x, y.T)", "matvec": "np.matvec(x, v)",
        "vecmat": "np.vecmat(x[:, 0], y)", "cross": "np.cross(x[:, :3], y[:, :3])",
        "tensordot": "np.tensordot(x, y, ([1], [1]))", "convolve": "np.convolve(v, y[0])",
        "correlate": "np.correlate(v, y[0], 'full')", "einsum": "np.einsum('ij,kj->ik', x, y)",
        "concatenate": "np.concatenate([x, y])", "concat": "np.concat([x, y])", "stack": "np.stack([x, y])",
        "vstack": "np.vstack([x, y])", "hstack": "np.hstack([x, y])", "dstack": "np.dstack([x, y])",
        "column_stack": "np.column_stack([x, y])", "block": "np.block([[x, y]])", "append": "np.append(x, y)",
        "insert": "np.insert(x, 1, v, axis=0)", "delete": "np.delete(x, 1, axis=0)", "pad": "np.pad(x, 1, 'reflect')",
        "tile": "np.tile(x, 2)", "repeat": "np.repeat(x, 2)", "roll": "np.roll(x, 1)", "resize": "np.resize(x, (2, 7))",
        "reshape": "np.reshape(x, (4, 3))", "swapaxes": "np.swapaxes(x, 0, 1)", "moveaxis": "np.moveaxis(x, 0, 1)",
        "rollaxis": "np.rollaxis(x, 1)", "expand_dims": "np.expand_dims(x, 0)",
        "broadcast_to": "np.broadcast_to(x, (2, 3, 4))", "broadcast_arrays": "np.broadcast_arrays(x, v)[1]",
        "split": "np.split(x, 2, 1)[0]", "array_split": "np.array_split(x, 2)[1]", "hsplit": "np.hsplit(x, 2)[1]",
        "vsplit": "np.vsplit(x, 3)[1]", "dsplit": "np.dsplit(x[None], 2)[0]", "unstack": "np.unstack(x)[1]",
        "take": "np.take(x, [0, 5, 5])", "take_along_axis": "np.take_along_axis(x, np.array([[0], [2], [1]]), 1)",
        "compress": "np.compress([True, False, True], x, 0)", "extract": "np.extract(x > 0.5, x)",
        "partition": "np.partition(x, 2)", "meshgrid": "np.meshgrid(v, y[0])[1]", "trim_zeros": "np.trim_zeros(v)",
        "vander": "np.vander(v)", "gradient": "np.gradient(x, axis=1)", "unwrap": "np.unwrap(4 * x, axis=1)",
        "cumulative_sum": "np.cumulative_sum(x, axis=1)", "cumulative_prod": "np.cumulative_prod(x, axis=1)",
        "quantile": "np.quantile(x, 0.4)", "percentile": "np.percentile(x, 40)",
        "nanquantile": "np.nanquantile(x, 0.4)",
        "nanpercentile": "np.nanpercentile(x, 40)", "interp": "np.interp(x, np.array([0.0, 0.5, 1.0]), y[:, 0])",
        "polyadd": "np.polyadd(v, y[0])", "polysub": "np.polysub(v, y[0])", "polymul": "np.polymul(v, y[0])",
        "polyval": "np.polyval(v, x)", "polyder": "np.polyder(v)", "polyint": "np.polyint(v)",
        "polyfit": "np.polyfit(v, y[0], 2)", "bincount": "np.bincount([0, 2, 2, 1], v)", "tri": "np.tri(3, 4) * x",
        "linspace": "np.linspace(x[0], y[0], 5)", "logspace": "np.logspace(x[0], y[0], 4)",
        "geomspace": "np.geomspace(x[0], y[0], 4)", "full": "np.full((2, 4), v)", "full_like": "np.full_like(x, v)",
        "astype": "np.astype(x, np.complex128)", "apply_along_axis": "np.apply_along_axis(np.cumprod, 1, x)",
        "apply_over_axes": "np.apply_over_axes(np.sum, x, [0, 1])",
        "copyto": "r = x * 1; np.copyto(r, y, where=x > 0.5)", "put": "r = x * 1; np.put(r, [0, 5], v)",
        "place": "r = x * 1; np.place(r, x > 0.5, v)", "putmask": "r = x * 1; np.putmask(r, x > 0.5, y)",
        "put_along_axis": "r = x * 1; np.put_along_axis(r, np.array([[0], [2], [1]]), y[:, :1], 1)",
        "fill_diagonal": "r = x * 1; np.fill_diagonal(r, v[0])",
        "asarray_chkfinite": "np.asarray_chkfinite(x)", "real_if_close": "np.real_if_close(x)",
        "r_": "np.r_[v, y[0]]", "c_": "np.c_[x, y]",
    },
    "numpy.linalg": {
        **{n: f"np.linalg.{n}(s)" for n in "inv det pinv svdvals norm cond tensorinv matrix_norm vector_norm".split()},
        **{n: f"np.linalg.{n}(x)" for n in "diagonal matrix_transpose trace".split()},
        "solve": "np.linalg.solve(s, x)", "lstsq": "np.linalg.lstsq(x.T, v)[0]", "slogdet": "np.linalg.slogdet(s)[1]",
        "cholesky": "np.linalg.cholesky(s @ np.conj(s.T))", "qr": "np.linalg.qr(s)[1]",
        "svd": "np.linalg.svd(s)[1] * abs(np.linalg.svd(s)[0])", "eigh": "np.linalg.eigh(s + np.conj(s.T))[0]",
        "eigvalsh": "np.linalg.eigvalsh(s + np.conj(s.T))", "eig": "np.linalg.eig(s)[0]",
        "eigvals": "np.linalg.eigvals(s)", "matrix_power": "np.linalg.matrix_power(s, 3)",
        "multi_dot": "np.linalg.multi_dot([s, x, y.T])", "tensorsolve": "np.linalg.tensorsolve(s, x[:, 0])",
        "cross": "np.linalg.cross(x[:, :3], y[:, :3])", "outer": "np.linalg.outer(v, y[0])",
        "matmul": "np.linalg.matmul(x, y.T)", "tensordot": "np.linalg.tensordot(x, y, axes=([1], [1]))",
        "vecdot": "np.linalg.vecdot(x, y)", "tensorinv": "np.linalg.tensorinv(s, ind=1)",
    },
    "numpy.fft": {
        n: f"np.fft.{n}(x)"
        for n in (
            "fft ifft rfft irfft hfft ihfft fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn fftshift ifftshift".split()
        )
    },
    "numpy.random": {
        n: "np.random.seed(1) or " + call.replace("rng", "np.random") for n, call in RANDOM.items()
    },
    "numpy.random.Generator": {n: call.replace("rng", "np.random.default_rng(1)") for n, call in RANDOM.items()},
    "numpy.ndarray": {
        **{n: f"x.{n}()" for n in """
            sum prod max min mean std var trace cumsum cumprod conj conjugate copy flatten ravel transpose squeeze
            diagonal view __abs__ __neg__ __pos__ __copy__ __iter__
        """.split()},
        **{n: f"x.{n}(y)" for n in "__add__ __sub__ __mul__ __truediv__ __pow__ __mod__".split()},
        **{n: f"x.{n}(y)" for n in "__radd__ __rsub__ __rmul__ __rtruediv__ __rpow__ __rmod__".split()},
        **{n: f"r = x * 1; r.{n}(y)" for n in "__iadd__ __isub__ __imul__ __itruediv__ __ipow__ __imod__".split()},
        "__iter__": "sum(row * row for row in x)", "__copy__": "x.__copy__()", "__deepcopy__": "x.__deepcopy__({})",
        "__matmul__": "x @ y.T", "__rmatmul__": "x.__rmatmul__(y.T)", "__imatmul__": "r = s * 1; r @= s",
        "__divmod__": "divmod(x, y)[1]", "__rdivmod__": "y.__rdivmod__(x)[1]", "__getitem__": "x[1:, [0, 2]]",
        "__setitem__": "r = x * 1; r[1:, [0, 2]] = y[:2, :2]", "T": "x.T", "mT": "x.mT", "real": "x.real * 1",
        "imag": "x.imag * 1", "flat": "r = x * 1; r.flat[3] = v[0]", "astype": "x.astype('c16')",
        "choose": "np.array([[0, 1, 1, 0]] * 3).choose([x, y])", "clip": "x.clip(0.3, 0.6)",
        "compress": "x.compress([True, False, True], 0)", "dot": "x.dot(v)", "fill": "r = x * 1; r[0].fill(v[0])",
        "partition": "r = x * 1; r.partition(2)", "sort": "r = x * 1; r.sort()", "put": "r = x * 1; r.put([0, 5], v)",
        "repeat": "x.repeat(2)", "reshape": "x.reshape(4, 3)", "swapaxes": "x.swapaxes(0, 1)", "take": "x.take([0, 5])",
    },
    "tnp": {
        **{n: f"np.{n}(x - 0.5)" for n in tnp.nn.__all__},
        "logsumexp": "np.logsumexp(x, axis=1)", "expm": "np.expm(s)",
    },
}  # fmt: skip

FLAT = {  # the derivative is zero wherever there is one
    "numpy": """
        floor ceil trunc rint round around fix floor_divide heaviside sign signbit spacing ones_like zeros_like
        empty_like
    """,
    "numpy.linalg": "matrix_rank",
    "numpy.ndarray": "__floordiv__ __rfloordiv__ __ifloordiv__ round",
}
CONSTANT = {  # truths, indices, counts, texts, shapes: constants to the derivative
    "numpy": """
        all allclose any argmax argmin argpartition argsort argwhere array2string array_equal array_equiv array_repr
        array_str bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
        bitwise_right_shift bitwise_xor broadcast_shapes can_cast common_type count_nonzero digitize equal
        flatnonzero gcd greater greater_equal histogram_bin_edges invert iscomplex iscomplexobj isclose isfinite
        isinf isnan isneginf isposinf isreal isrealobj isscalar iterable lcm left_shift less less_equal lexsort
        logical_and logical_not logical_or logical_xor may_share_memory min_scalar_type nanargmax nanargmin ndim
        nonzero not_equal result_type right_shift searchsorted shape shares_memory size
    """,
    "numpy.random": """
        binomial bytes choice geometric hypergeometric logseries multinomial negative_binomial permutation poisson rand
        randint randn random random_integers random_sample ranf sample shuffle standard_cauchy standard_exponential
        standard_normal zipf
    """,
    "numpy.random.Generator": """
        binomial bytes choice geometric hypergeometric integers logseries multinomial multivariate_hypergeometric
        negative_binomial permutation permuted poisson random shuffle standard_cauchy standard_exponential
        standard_normal zipf
    """,
    "numpy.ndarray": """
        __and__ __array_namespace__ __bool__ __contains__ __eq__ __ge__ __gt__ __iand__ __ilshift__
        __invert__ __ior__ __irshift__ __ixor__ __le__ __len__ __lshift__ __lt__ __ne__ __or__ __rand__ __repr__
        __rlshift__ __ror__ __rrshift__ __rshift__ __rxor__ __str__ __xor__ all any argmax argmin argpartition
        argsort base device dtype flags itemsize nbytes ndim nonzero searchsorted shape size strides to_device
    """,
}
REFUSED = {  # a gradient by way of them is refused by name
    "numpy": """
        frexp histogram histogram2d histogramdd i0 intersect1d nextafter poly polydiv roots setdiff1d setxor1d union1d
        unique unique_all unique_counts unique_inverse unique_values
    """,
    **dict.fromkeys(["numpy.random", "numpy.random.Generator"], """
        beta chisquare dirichlet f multivariate_normal noncentral_chisquare noncentral_f standard_gamma standard_t wald
    """),
}  # fmt: skip
LEAVING = {  # they give plain numbers, foreign arrays or bytes: LeavingTapeWarning
    "numpy": "asmatrix bmat",
    "numpy.ndarray": """
        __array__ __complex__ __dlpack__ __float__ __index__ __int__ ctypes data
        dump dumps item tobytes tofile tolist
    """,
}
NO_NUMBERS = {  # no functions of arrays of numbers: creation, files, settings, texts, dates, bytes
    "numpy": """
        arange base_repr bartlett binary_repr blackman busday_count busday_offset datetime_as_string
        datetime_data diag_indices diag_indices_from einsum_path empty eye format_float_positional
        format_float_scientific from_dlpack frombuffer fromfile fromfunction fromiter frompyfunc fromregex fromstring
        genfromtxt get_include get_printoptions getbufsize geterr geterrcall hamming hanning identity indices info
        is_busday isdtype isfortran isin isnat issubdtype ix_ kaiser load loadtxt mask_indices mintypecode nested_iters
        ones packbits printoptions promote_types ravel_multi_index row_stack save savetxt savez savez_compressed
        set_printoptions setbufsize seterr seterrcall show_config show_runtime test tril_indices tril_indices_from
        triu_indices triu_indices_from typename unpackbits unravel_index zeros index_exp s_ mgrid ogrid
    """,
    "numpy.fft": "fftfreq rfftfreq",
    "numpy.random": "default_rng get_state seed set_state",
    "numpy.random.Generator": "bit_generator spawn",
    "numpy.ndarray": """
        __array_finalize__ __array_function__ __array_interface__ __array_priority__ __array_struct__ __array_ufunc__
        __array_wrap__ __class_getitem__ __delitem__ __dlpack_device__ __setstate__ byteswap
        getfield resize setfield setflags
    """,
}
GIVEN_UP = {"numpy": "in1d trapz", "numpy.ndarray": "itemset newbyteorder ptp"}  # that NumPy 2.3 still knows
LISTS = {"flat": FLAT, "constant": CONSTANT, "refused": REFUSED, "leaving": LEAVING, "no numbers": NO_NUMBERS}
KINDS = {"efdgFDG": "all", "efdg": "real", "fdFD": "single and double", "efd": "double"}  # by accepted dtypes
MEANINGS = {
    "all": "differentiable, of every floating and complex dtype",
    "real": "differentiable, of every floating dtype",
    "single and double": "differentiable, of float32, float64, complex64 and complex128, which NumPy has it for",
    "double": "differentiable, of float16, float32 and float64; NumPy computes in float64",
    "flat": "flat: the derivative is 0 wherever there is one",
    "constant": "its results are constants: truths, indices, counts, texts; random numbers without parameters",
    "refused": "refused: `NotDifferentiableError`, with the name",
    "leaving": "leaves the tape: `LeavingTapeWarning`, with the line",
    "no numbers": "no function of arrays of numbers",
}


def public(space: str) -> list[str]:
    """Public names of a namespace that are functions, or objects that make arrays."""
    root = SPACES[space]
    if space == "tnp":
        return sorted([name for name, module in tnp.EXTRAS.items() if not module.startswith("transforms")])
    given_up = GIVEN_UP.get(space, "").split()
    names = [n for n in (getattr(root, "__all__", None) or dir(root)) if hasattr(root, n) and n not in given_up]
    if space == "numpy.ndarray":
        ours = set(dir(object)) - {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__str__"}
        return sorted(n for n in names if n not in ours | {"__doc__", "__hash__", "__new__"})
    values = {n: getattr(root, n) for n in names}
    if space == "numpy.random.Generator":
        return [n for n in names if not n.startswith("_")]
    makers = ("r_", "c_", "s_", "index_exp", "mgrid", "ogrid")
    return sorted(
        n
        for n, v in values.items()
        if n in makers or (callable(v) and not isinstance(v, (type, types.ModuleType)) and not n.startswith("__"))
    )


def listed(space: str) -> dict[str, str]:
    """The list that each name is in; a name in two of them is a mistake."""
    found = dict.fromkeys(CALLS.get(space, {}), "differentiable")
    for kind, names in LISTS.items():
        for name in names.get(space, "").split():
            assert name not in found, f"{space}.{name} is in two lists"
            found[name] = kind
    return found


def operands(letter: str) -> dict[str, Any]:
    """Arrays of a dtype, by the names that calls use: inside every domain, no two elements alike."""
    rng = numpy.random.default_rng(3)
    made = {
        "x": rng.permutation(numpy.linspace(0.2, 0.8, 12)).reshape(3, 4),
        "y": rng.permutation(numpy.linspace(1.1, 1.9, 12)).reshape(3, 4),
        "v": rng.permutation(numpy.linspace(0.3, 0.9, 4)),
        "s": numpy.array([[2.0, 0.3, 0.5], [0.4, 1.5, 0.2], [0.1, 0.6, 1.0]]),
    }
    dtype = numpy.dtype(letter)
    if dtype.kind == "c":
        made = {k: a + 0.3j * rng.permutation(a.reshape(-1)).reshape(a.shape) for k, a in made.items()}
    return {k: a.astype(dtype) for k, a in made.items()}


def program(call: str) -> Any:
    """The function of (np, *operands) that a call is, and the names of its operands."""
    names = [n for n in "xyvs" if n in set(compile(call, "call", "exec").co_names)]

    def f(np: Any, *arrays: Any) -> Any:
        space = {"np": np, **dict(zip(names, arrays, strict=True))}
        if call.startswith("r = "):
            exec(call, space)
            return space["r"]
        return eval(call, space)

    return f, names


def accepted(call: str, letter: str) -> bool:
    """Does NumPy itself take this dtype, and give floating or complex numbers?"""
    f, names = program(call)
    made = operands(letter)
    np = tnp if call.startswith("np.") and call.split("(")[0][3:] in tnp.EXTRAS else numpy
    with numpy.errstate(all="ignore"):
        try:
            result = numpy.asarray(tnp.to_numpy(f(np, *[made[n] for n in names])))
        except (TypeError, ValueError):
            return False
    return result.dtype.kind in "fc"


def dtypes(space: str, name: str) -> str:
    return "".join(letter for letter in DTYPES.values() if accepted(CALLS[space][name], letter))


def survey() -> dict[str, dict[str, str]]:
    """Of every public name which kind it is, by namespace."""
    found: dict[str, dict[str, str]] = {}
    for space in SPACES:
        kinds = listed(space)
        found[space] = {}
        for name in public(space):
            kind = kinds[name]
            if kind == "differentiable":
                letters = dtypes(space, name)
                kind = KINDS[letters]
            found[space][name] = kind
    return found


def text(found: dict[str, dict[str, str]]) -> str:
    """docs/derivatives.md"""
    lines = [
        "# Which functions have derivatives",
        "",
        f"Made by `python -m tests.tnp_autodiff.derivatives --write` from the lists there; NumPy {numpy.__version__}.",
        "tests/tnp_autodiff/test_derivatives.py tests each: forward and reverse mode against differences and each",
        "other, to second order, of every dtype that NumPy takes.",
        "",
        *(f"- **{kind}**: {meaning}." for kind, meaning in MEANINGS.items()),
        "",
        "| namespace | " + " | ".join(MEANINGS) + " |",
        "|---|" + "---:|" * len(MEANINGS),
    ]
    for space, names in found.items():
        kinds = list(names.values())
        lines.append(f"| {space} | " + " | ".join(str(kinds.count(kind) or "") for kind in MEANINGS) + " |")
    for space, names in found.items():
        lines += ["", f"## {space}"]
        for kind in MEANINGS:
            some = [name for name in names if names[name] == kind]
            if some:
                lines += ["", f"**{kind}**", "", *textwrap.wrap(" ".join(f"`{name}`" for name in some), 118)]
    return "\n".join(lines) + "\n"


def calls() -> Iterator[tuple[str, str, str]]:
    """Namespace, name and call of each function with derivatives."""
    for space, samples in CALLS.items():
        for name, call in samples.items():
            yield space, name, call


def main() -> None:
    """Print the page, or write it to docs/derivatives.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.tnp_autodiff.derivatives", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/derivatives.md")
    made = text(survey())
    if parser.parse_args().write:
        FILE.write_text(made)
    else:
        print(made)


if __name__ == "__main__":
    main()
