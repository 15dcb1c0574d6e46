"""vmap of a function of one example, and the loop beside it."""

import tnp
from asv_bench.batches import at_once, loop, make


class Vmap:
    """Ten thousand examples of 16 numbers."""

    number = 1
    warmup_time = 0.2

    def setup(self) -> None:
        self.x, self.w = make()
        self.ours = tnp.array(self.x), tnp.array(self.w)

    def time_vmap(self) -> None:
        at_once(*self.ours)

    def time_loop(self) -> None:
        loop(self.x, self.w)
