"""How signals stop a command: by way of every `finally`, and at once where a query runs."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

stopped_by: list[int] = []


def stop(signal_number: int, frame: object) -> NoReturn:
    """End by way of every `finally`, so that a stopped load leaves nothing behind."""
    stopped_by.append(signal_number)
    sys.exit(128 + signal_number)


@contextlib.contextmanager
def interruptible(connection: "DuckDBPyConnection") -> Iterator[None]:
    """Let a signal stop a long query at once: DuckDB itself would see it only when the query is over."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer)

    def watch() -> None:
        if os.read(reader, 1):
            connection.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)
        watcher.join()
        os.close(reader)
