"""What the backend counts: for reports, and for tests that would miss a kernel that silently never ran."""


class Launches:
    """Of one kernel. Incremented without a lock: a launch in a thousand may be lost between threads."""

    __slots__ = ("bytes_read", "bytes_written", "elements", "launches", "name")

    def __init__(self, name: str, bytes_read: int, bytes_written: int) -> None:
        self.name, self.bytes_read, self.bytes_written = name, bytes_read, bytes_written  # per element
        self.launches = self.elements = 0


class Stats:
    """
    Attributes
    ----------
    compiled, from_disk : int
        Kernels made, and those found on disk.
    interpreted : int
        Groups that ran through NumPy's ufuncs.
    kernels : list of Launches
    """

    def __init__(self) -> None:
        self.compiled = self.from_disk = self.interpreted = 0
        self.kernels: list[Launches] = []

    @property
    def launched(self) -> int:
        """Launches of fused kernels."""
        return sum(k.launches for k in self.kernels)

    @property
    def distinct(self) -> int:
        """Fused kernels that ran at least once."""
        return sum(k.launches > 0 for k in self.kernels)

    @property
    def bytes_read(self) -> int:
        """Of leaves, counted once a launch."""
        return sum(k.bytes_read * k.elements for k in self.kernels)

    @property
    def bytes_written(self) -> int:
        return sum(k.bytes_written * k.elements for k in self.kernels)
