"""Systems that trainc does not run on: it says so before it reads or writes anything."""

import subprocess
import sys

from tests.compiling import ROOT

# No module that Windows lacks may be needed on the way to the message.
PROGRAM = """
import sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "_posixsubprocess"):
    sys.modules[name] = None
sys.platform = "win32"
from trainc.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_windows_is_refused_in_one_line() -> None:
    for words in (["--version"], ["build", "."], []):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], check=False, capture_output=True, text=True, cwd=ROOT
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "trainc: trainc runs on Linux and macOS; on Windows, run it in WSL or in a container\n"
