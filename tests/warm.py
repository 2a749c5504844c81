"""`trainc` as a program that is forked from a process which has it loaded: a start costs a tenth of one that imports.

For tests in which a shell or a hook manager starts it many times. A command has its own process with the arguments,
environment, folder and streams of whoever called it, and its exit code; what such a start imports is not tested here.
"""

import atexit
import faulthandler
import gc
import io
import marshal
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from threading import Thread

from tests import sampling

CLIENT = f"""\
#!{sys.executable} -IS
import _socket, marshal, os, sys
there = _socket.socket(_socket.AF_UNIX)
there.connect(__file__ + ".socket")
text = marshal.dumps((os.getcwd(), sys.argv[1:], dict(os.environ)))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
there.sendmsg([len(text).to_bytes(4, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
there.sendall(text)
code = int.from_bytes(there.recv(4) or sys.exit("trainc: the process behind it has gone"), "little", signed=True)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""
PLAIN = f'#!/bin/sh\nexec {sys.executable} -m trainc "$@"\n'


@cache
def program() -> Path:
    """The file that starts it; the process behind it lives as long as this one. A quick run has too few starts for one."""
    file = Path(tempfile.mkdtemp(prefix="warm-")) / "trainc"
    atexit.register(shutil.rmtree, file.parent)
    file.write_text(PLAIN if sampling.leave_out_slow else CLIENT, "utf-8")
    file.chmod(0o755)
    if sampling.leave_out_slow:
        return file
    words = [sys.executable, "-m", "tests.warm", str(file)]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1])
    assert server.stdin
    assert server.stdout
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    assert server.stdout.read() == b"ready"
    return file


def serve(place: str) -> None:
    """Fork a process for every call, until whoever started this one closes its input."""
    from trainc import cli  # noqa: PLC0415 (whoever starts the program does not need it)
    from trainc.integrations.lsp import server  # noqa: F401, PLC0415 (as above)

    with tempfile.TemporaryDirectory() as folder, io.StringIO() as said, redirect_stdout(said), redirect_stderr(said):
        os.chdir(folder)
        for words in (["init"], ["build", "-w"], ["validate"], ["show"], ["diff", "HEAD"], ["why", "hello"]):
            cli.main(words)
        os.chdir("/")
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    os.write(1, b"ready")
    os.dup2(2, 1)
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        caller, _ = listener.accept()
        if not os.fork():
            listener.close()
            answer(caller)
        caller.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def answer(caller: socket.socket) -> None:
    """Run one command in a process of its own and send its exit code."""
    from trainc import cli  # noqa: PLC0415 (as above)

    head, streams, _, _ = socket.recv_fds(caller, 4, 3)
    size = int.from_bytes(head, "little")
    text = b""
    while len(text) < size:
        text += caller.recv(size)
    folder, words, environment = marshal.loads(text)  # noqa: S302 (it is of the program above)
    child = os.fork()
    if not child:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 64)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["trainc", *words]
        if "PYTHONFAULTHANDLER" in environment:
            faulthandler.enable()
        cli.program()
    for stream in streams:
        os.close(stream)
    Thread(target=abort_without, args=(caller, child), daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):  # a caller that was killed
        caller.sendall(code.to_bytes(4, "little", signed=True))
    os._exit(0)


def abort_without(caller: socket.socket, child: int) -> None:
    """Let a command end with its caller."""
    if not caller.recv(1):
        with suppress(ProcessLookupError):  # it ended meanwhile
            os.kill(child, signal.SIGABRT)


if __name__ == "__main__":
    serve(f"{sys.argv[1]}.socket")
