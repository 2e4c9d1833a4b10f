"""The command line: alone prints, exits and knows Typer. stdout is rows; words go to stderr."""

import gc
import os
import signal
import sys
from typing import NoReturn

from energydb.cli.commands import app
from energydb.cli.console import fault, leave_stdout
from energydb.cli.signals import stop, stopped_by
from energydb.errors import EnergydbError, MachineError


def main() -> NoReturn:
    """Run the command line, and turn every fault into its lines on stderr and its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup, or in the background of a script
            signal.signal(number, stop)
    nowhere = None
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who called
            nowhere = nowhere or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
        else:
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except EnergydbError as error:
        for line in error.lines:
            fault(line)
        sys.exit(error.exit_code)
    except RuntimeError:
        if not stopped_by:
            raise
        sys.exit(128 + stopped_by[0])  # DuckDB was stopped in the middle, and made an error of it
    except OSError as error:
        if error.filename is None:
            leave_stdout()
        fault(f"{error.filename or 'stdout'}: {error.strerror or error}")
        sys.exit(MachineError.exit_code)
    finally:
        gc.freeze()  # the process ends: to search its memory for garbage first would take a tenth of a second
    raise AssertionError("typer exits by itself")
