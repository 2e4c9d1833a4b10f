"""A process that has energydb imported and forks a child for each command: a start without the start's cost.

The child has its own arguments, streams, folder, environment and exit code. Who asks is a program as well
(`python -IS forked.py ADDRESS MODULE:FUNCTION …`): it hands its streams over, passes signals on, and ends as the
child did. So a test, a shell or a terminal runs it as it would run `energydb`.
"""

import contextlib
import os
import select
import signal
import socket
import sys

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ask(address: str, *words: str) -> None:
    """Have words run, the first of which names a function, and end as they end."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        settings = (f"{name}={value}" for name, value in os.environ.items())
        parts = (os.getcwd(), str(len(words)), *words, *settings)  # noqa: PTH109 - pathlib takes as long as all the rest
        socket.send_fds(server, [b"\0"], [0, 1, 2])
        server.sendall("\0".join(parts).encode("utf-8", "surrogateescape"))
        server.shutdown(socket.SHUT_WR)
        with server.makefile("r") as answers:
            pid = int(answers.readline())
            for number in _PASSED_ON:
                signal.signal(number, lambda number, _: os.kill(pid, number))
            code = int(answers.readline())
    os._exit(code if code >= 0 else 128 - code)  # as a shell puts that a signal ended it


def serve(address: str) -> str:
    """Answer until stdin ends; return in each child, as its own process, the name of what it runs."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while 0 not in select.select([0, server], [], [])[0]:
            asker, _ = server.accept()
            with asker:
                if os.fork():
                    _collect(os.WNOHANG)
                    continue
                if child := os.fork():
                    asker.sendall(f"{child}\n".encode())
                    _, status = os.waitpid(child, 0)
                    asker.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
                    os._exit(0)
                return _become(asker)
    _collect(0)
    os._exit(0)


def _collect(how: int) -> None:
    """Take in the children that have ended, their processor time with them."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, how)[0]:
            pass


def _become(asker: socket.socket) -> str:
    _, streams, _, _ = socket.recv_fds(asker, 1, 3)
    with asker.makefile("rb") as asked:
        folder, count, *rest = asked.read().decode("utf-8", "surrogateescape").split("\0")
    name, *arguments = rest[: int(count)]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(setting.split("=", 1) for setting in rest[int(count) :])
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as an interpreter opens them
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    for number in _PASSED_ON:  # whatever the tests themselves were started with, as in the background of a script
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    sys.argv = ["energydb", *arguments]
    return name


if __name__ == "__main__":
    if len(sys.argv) > 2:
        ask(*sys.argv[1:])
    import gc
    import importlib
    import pkgutil
    from pathlib import Path

    import energydb

    sys.path[0] = str(Path(__file__).parents[1])  # the folder that `tests` is in
    for found in pkgutil.walk_packages(energydb.__path__, "energydb."):
        importlib.import_module(found.name)
    gc.freeze()
    module, _, function = serve(sys.argv[1]).partition(":")
    try:
        getattr(importlib.import_module(module), function)()
    except SystemExit as ended:
        # To take apart all that was imported, as an interpreter does at its end, takes longer than most commands.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code or 0)
