"""Public benchmarks, unchanged, from clones that the caller has made (see `python -m asv_bench.table --help`)."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from asv_bench.programs import Program

NPBENCH_FLOORS = {
    "jacobi_2d": (3, 3),
    "heat_3d": (5, 4),
    "hdiff": (3, 3),
    "fdtd_2d": (2.5, 2.5),
    "arc_distance": (2, 1.3),
}

# By the sizes of a preset: elements of an array, how often all of them are gone through, bytes moved for one of them
# each time when every statement moves its operands and its result once, and bytes that it takes in all arrays
_MOVED: dict[str, Callable[[dict[str, int]], tuple[int, int, float, float]]] = {
    "jacobi_2d": lambda s: (s["N"] ** 2, 2 * (s["TSTEPS"] - 1), 16, 16),
    "heat_3d": lambda s: (s["N"] ** 3, 2 * (s["TSTEPS"] - 1), 16, 16),
    "hdiff": lambda s: (s["I"] * s["J"] * s["K"], 1, 24, 24),
    "fdtd_2d": lambda s: (s["NX"] * s["NY"], s["TMAX"], 80, 24),
    "arc_distance": lambda s: (s["N"], 1, 40, 40),
}


def load(path: Path, **names: Any) -> ModuleType:
    """The module in a file, as another module than any loaded before, then with these names set in it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(names)
    return module


def calling(path: Path, function: str, finish: Callable[..., Any]) -> Callable[..., Any]:
    """A program's `run`: the file's function, with ``np`` in its module being NumPy or tnp."""
    versions: dict[str, ModuleType] = {}

    def run(np: Any, *arguments: Any) -> Any:
        if np.__name__ not in versions:
            versions[np.__name__] = load(path, np=np)
        return finish(getattr(versions[np.__name__], function)(*arguments), *arguments)

    return run


def equation_of_state(clone: Path) -> Program:
    folder = clone / "benchmarks/equation_of_state"

    def make(rng: Any) -> tuple[Any, ...]:
        return tuple(load(folder / "__init__.py").generate_inputs(1 << 20))

    run = calling(folder / "eos_numpy.py", "run", lambda result, *arguments: result)
    name = "pyhpc equation_of_state, 1M, one core"
    return Program(name, make, run, 18, 7.5, one_core=True, elements=1 << 20, moved=32, counted=True)


def npbench(clone: Path) -> list[Program]:
    return [_npbench_program(clone, name, *floors) for name, floors in NPBENCH_FLOORS.items()]


def _npbench_program(clone: Path, name: str, floor_avx512: float, floor_avx2: float) -> Program:
    about = json.loads((clone / f"bench_info/{name}.json").read_text())["benchmark"]
    folder = clone / "npbench/benchmarks" / about["relative_path"]
    sizes = about["parameters"]["M"]
    names, outputs = about["input_args"], about["output_args"]

    def make(rng: Any) -> tuple[Any, ...]:
        initialize = getattr(load(folder / f"{about['module_name']}.py"), about["init"]["func_name"])
        made = initialize(*(sizes[argument] for argument in about["init"]["input_args"]))
        values = {**sizes, **dict(zip(about["init"]["output_args"], made, strict=True))}
        return tuple(values[argument] for argument in names)

    def finish(result: Any, *arguments: Any) -> Any:
        return tuple(arguments[names.index(output)] for output in outputs) if outputs else result

    run = calling(folder / f"{about['module_name']}_numpy.py", about["func_name"], finish)
    title = f"NPBench {name}, preset M, one core"
    moves = dict(zip(("elements", "passes", "moved", "held"), _MOVED[name](sizes), strict=True))
    return Program(title, make, run, floor_avx512, floor_avx2, one_core=True, counted=True, **moves)  # type: ignore[arg-type]
