"""Gives one standard input to two processes, one after the other."""

import os
import sys
import threading
from itertools import count
from typing import IO


class SharedInput:
    """What arrives on this process's standard input, from its beginning, for each reader in turn.

    Input is read as it arrives and passed on at once, so that a program which reads nothing is not held up by an
    input that never ends. A terminal is left to each process in turn.
    """

    def __init__(self) -> None:
        self.terminal = sys.stdin is None or sys.stdin.isatty()
        self._chunks: list[bytes] = []
        self._arrived = threading.Condition()
        if not self.terminal:
            threading.Thread(target=self._read, daemon=True).start()

    def feed(self, pipe: IO[bytes]) -> None:
        """Write everything into `pipe`, from a thread that ends with the input or with the pipe's reader."""
        threading.Thread(target=self._write, args=(pipe,), daemon=True).start()

    def _read(self) -> None:
        while True:
            chunk = os.read(sys.stdin.fileno(), 1 << 16)
            with self._arrived:
                self._chunks.append(chunk)
                self._arrived.notify_all()
            if not chunk:
                return

    def _write(self, pipe: IO[bytes]) -> None:
        try:
            for index in count():
                chunk = self._chunk(index)
                if not chunk:
                    pipe.close()
                    return
                pipe.write(chunk)
                pipe.flush()
        except OSError:  # the reader is gone
            pass

    def _chunk(self, index: int) -> bytes:
        """Wait for the chunk of this index; the last one is empty."""
        with self._arrived:
            self._arrived.wait_for(lambda: index < len(self._chunks))
            return self._chunks[index]
