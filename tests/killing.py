"""energydb itself, ended by a signal at a moment of its run: `killed SIGNAL MOMENT load …`.

A moment is `call NAME` or `return NAME` of a function, `c_call` or `c_return` where it's written in C (SQL follows
the function that is handed it); or `write BYTES`, where a file would grow beyond (and with 0 for a signal, the write
fails); or `event NUMBER`, counted over all that a run does to files, as audit hooks tell of it. A run that comes to
its end says how many they were.
"""

import os
import resource
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from energydb.cli import main as energydb

_TO_FILES = ("open", "os.", "fcntl.", "tempfile.", "shutil.")
_events = 0


def main() -> NoReturn:
    """Run energydb with what follows the signal and the moment."""
    number, moment, *sys.argv[1:] = sys.argv[1:]
    kind, _, which = moment.partition(" ")
    if kind == "write":
        _end_at_byte(int(number), int(which))
    elif kind == "event":
        _end_at_event(int(number), int(which))
    else:
        _end_at_call(int(number), moment)
    try:
        energydb()
    finally:
        if kind == "event":
            os.write(2, f"{_events} events\n".encode())


def _end_at_call(number: int, moment: str) -> None:
    def see(frame: FrameType, event: str, subject: Any) -> None:
        name = f"{subject.__module__}.{subject.__name__}" if event.startswith("c_") else frame.f_code.co_name
        if moment.startswith(f"{event} {name}") and moment in (
            f"{event} {name}",
            f"{event} {name} {frame.f_locals.get('statement')}",
        ):
            sys.setprofile(None)
            os.kill(os.getpid(), number)

    sys.setprofile(see)


def _end_at_event(number: int, last: int) -> None:
    def hear(event: str, _: object) -> None:
        global _events
        if event.startswith(_TO_FILES):
            _events += 1
            if _events == last:
                os.kill(os.getpid(), number)

    sys.addaudithook(hear)


def _end_at_byte(number: int, size: int) -> None:
    """Have the kernel end the process within a write, or refuse it: no hook of Python's sees where DuckDB writes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if number else signal.SIG_IGN)
