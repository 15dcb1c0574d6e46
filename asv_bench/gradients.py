"""Gradients of tnp against those of JAX (jit) and PyTorch: ``python -m asv_bench.gradients``.

Each work is one function of an array module, written once; every library runs on one thread of a process of its own,
and one repetition of each follows another in changing order. What is compared is the processor's time, results
finished. A row says how much of the faster peer's time tnp takes.
"""

import argparse
import itertools
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before the libraries are loaded
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy  # noqa: E402

import tnp  # noqa: E402
from tnp_autodiff import value_and_grad  # noqa: E402


@dataclass(frozen=True)
class Work:
    """
    Attributes
    ----------
    name : str
    f : callable
        ``f(ops, *arguments, *constants)``, with `ops` an array module that also has relu, softplus and log_softmax.
    arguments, constants : list of numpy.ndarray
        What it is differentiated by, and what it is not.
    """

    name: str
    f: Callable[..., Any]
    arguments: list[Any]
    constants: list[Any]


def _logistic(ops: Any, w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return (ops.softplus(z) - y * z).mean()


def _chain(ops: Any, a: Any, b: Any, c: Any) -> Any:
    return ((a * b + c) * (a - c) / (b * b + 1) + ops.sqrt(a * a + b * b) * 0.5).sum()


def _mlp(ops: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, labels: Any) -> Any:
    h = ops.relu(x @ w1 + b1)
    h = ops.relu(h @ w2 + b2)
    return -(labels * ops.log_softmax(h @ w3 + b3)).sum() / len(x)


def works() -> list[Work]:
    r = numpy.random.default_rng(0)
    a, b, c = (r.random(1_000_000) + 0.5 for _ in range(3))
    x, y = r.standard_normal((100_000, 100)), (r.random(100_000) < 0.5).astype(float)
    sizes = [784, 512, 512, 10]
    layers: list[Any] = []
    for n, m in itertools.pairwise(sizes):
        layers += [(r.standard_normal((n, m)) * 0.05).astype("f4"), numpy.zeros(m, "f4")]
    images = r.standard_normal((128, 784)).astype("f4")
    labels = numpy.eye(10, dtype="f4")[r.integers(0, 10, 128)]
    return [
        Work("logistic regression, 100k x 100", _logistic, [r.standard_normal(100) * 0.1], [x, y]),
        Work("13-operation chain, 1M, one gradient", _chain, [a], [b, c]),
        Work("13-operation chain, 1M, three gradients", _chain, [a, b, c], []),
        Work("MLP 784-512-512-10, batch 128, float32", _mlp, layers, [images, labels]),
    ]


Way = Callable[[], list[Any]]  # gives the gradients


def with_tnp(work: Work) -> Way:
    constants, arguments = [tnp.array(x) for x in work.constants], [tnp.array(x) for x in work.arguments]
    both = value_and_grad(lambda *xs: work.f(tnp, *xs, *constants), argnums=range(len(arguments)))

    def once() -> list[Any]:
        value, gradients = both(*arguments)
        tnp.evaluate(value, *gradients)
        return list(gradients)

    return once


def with_jax(work: Work) -> Way:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    class Ops:
        sqrt, relu, softplus = jnp.sqrt, jax.nn.relu, jax.nn.softplus
        log_softmax = jax.nn.log_softmax

    constants, arguments = [jnp.asarray(x) for x in work.constants], [jnp.asarray(x) for x in work.arguments]
    n = len(arguments)
    both = jax.jit(jax.value_and_grad(lambda *xs: work.f(Ops, *xs), argnums=tuple(range(n))))
    return lambda: list(jax.block_until_ready(both(*arguments, *constants))[1])


def with_torch(work: Work) -> Way:
    import torch
    from torch.nn import functional

    torch.set_num_threads(1)

    class Ops:
        sqrt, relu, softplus = torch.sqrt, torch.relu, functional.softplus

        @staticmethod
        def log_softmax(x: Any) -> Any:
            return functional.log_softmax(x, -1)

    constants = [torch.tensor(x) for x in work.constants]
    arguments = [torch.tensor(x, requires_grad=True) for x in work.arguments]
    return lambda: list(torch.autograd.grad(work.f(Ops, *arguments, *constants), arguments))


WAYS = {"tnp": with_tnp, "JAX": with_jax, "PyTorch": with_torch}


def serve(name: str, pipe: Any) -> None:
    """Answer one work after another: the gradients, then seconds for each time that it is asked to run."""
    with tnp.config(threads=1):
        for work in works():
            try:
                once = WAYS[name](work)
            except ImportError as error:
                pipe.send(str(error))
                return
            for _ in range(5):
                gradients = once()
            pipe.send([tnp.to_numpy(g) if name == "tnp" else numpy.asarray(g) for g in gradients])
            while pipe.recv():
                began = time.process_time()
                once()
                pipe.send(time.process_time() - began)


class Library:
    """A library in a process of its own: its threads, which may spin for a while, disturb no other."""

    def __init__(self, name: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(name, theirs), daemon=True)
        self._process.start()

    def answer(self) -> Any:
        return self._pipe.recv()

    def run(self) -> float:
        self._pipe.send(True)
        seconds: float = self._pipe.recv()
        return seconds

    def next(self) -> None:
        self._pipe.send(False)


def compare(libraries: dict[str, Library], name: str, repetitions: int) -> dict[str, float]:
    """Median seconds of each library, whose gradients are alike."""
    answers = {library: process.answer() for library, process in libraries.items()}
    for library, answer in list(answers.items()):
        if isinstance(answer, str):
            print(f"({library} is missing: {answer}; pip install 'tnp-array[bench]')")
            del libraries[library]
            continue
        for got, expected in zip(answer, answers["tnp"], strict=True):
            numpy.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-5 * abs(expected).max(), err_msg=name)
    seconds: dict[str, list[float]] = {library: [] for library in libraries}
    for i in range(repetitions):
        for library in sorted(libraries, reverse=i % 2 == 1):
            seconds[library].append(libraries[library].run())
    for process in libraries.values():
        process.next()
    return {library: float(numpy.median(times)) for library, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=25)
    arguments = parser.parse_args()
    libraries = {name: Library(name) for name in WAYS}
    print("| work | tnp | JAX jit | PyTorch | of the faster one's time |\n|---|---|---|---|---|")
    for work in works():
        seconds = compare(libraries, work.name, arguments.repetitions)
        peers = [s for name, s in seconds.items() if name != "tnp"]
        times = [f"{seconds[name] * 1e3:.2f} ms" if name in seconds else "-" for name in WAYS]
        ratio = f"{seconds['tnp'] / min(peers):.2f}" if peers else "-"
        print(f"| {work.name} | {' | '.join(times)} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
