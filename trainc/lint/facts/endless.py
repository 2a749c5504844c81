"""Commands that never end by themselves."""

from __future__ import annotations

from trainc.lint.facts.shell import unconditional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, ExpandedRole
    from trainc.lint.facts.shell import Simple

_DAEMON_PROGRAMS = frozenset(
    (
        "sshd",
        "tcpgpudmarxd",
        "fluent-bit",
        "fluentd",
        "node_exporter",
        "dcgm-exporter",
        "tensorboard",
        "jupyter",
        "jupyter-lab",
        "nginx",
        "redis-server",
        "etcd",
        "vmtouch",
        "gcsfuse",
    )
)
# Words without which a program leaves the foreground, and words with which it does, or ends.
_STAYS = {"gcsfuse": ("--foreground",), "nginx": ("daemon off",), "vmtouch": ("-l",)}
_LEAVES = {"redis-server": ("--daemonize",), "etcd": ("--version",), "jupyter": ("nbconvert", "execute", "run ")}
_LOOPS = ("while true", "while :", "while [ 1 ]", "while [[ 1", "while sleep", "until false")


def endless(container: Container) -> bool:
    """Whether the command visibly runs for ever: an endless sleep, a tail on nothing, a loop without an end."""
    line = container.text
    if not line:
        return False
    if "sleep inf" in line or "sleep 2147483647" in line or _follows(line):
        return _last(container, ("sleep", "tail"))
    loop = next((loop for loop in _LOOPS if loop in line), "")
    if not loop:
        return False
    body = line[line.index(loop) :]
    return "break" not in body and "exit" not in body and not _behind(body)


def _follows(line: str) -> bool:
    """Whether `tail` waits for a file to grow, without a process whose end it follows."""
    return ("tail -f" in line or "tail -F" in line or "tail --follow" in line) and "--pid" not in line


def _behind(body: str) -> bool:
    """Whether a loop, or the parentheses around it, runs in the background."""
    ends = [rest.lstrip(" )}") for rest in body.split("done")[1:]]
    return any(rest.startswith("&") and not rest.startswith("&&") for rest in ends)


def _last(container: Container, programs: tuple[str, ...]) -> bool:
    """Whether the wait is the last thing the command does, and nothing else ends it."""
    commands = [c for c in container.commands if c.words]
    if not commands or commands[-1].program not in programs:
        return False
    before = [c for c in unconditional(commands[:-1]) if c.program in ("exit", "exec")]
    return not before and commands[-1].end != "&" and not any(c.end == "||" for c in commands[-2:-1])


def is_daemon(container: Container) -> bool:
    """Whether the command is a daemon that stays in the foreground."""
    if not any(program in container.text for program in _DAEMON_PROGRAMS):
        return False
    for simple in container.commands:
        if simple.program in _DAEMON_PROGRAMS and simple.end != "&":
            if simple.program == "sshd":
                return any(flag.startswith("-") and "D" in flag for flag in simple.words[1:])
            if _stays(simple):
                return True
    return False


def _stays(simple: Simple) -> bool:
    """Whether a daemon stays in the foreground, by its words."""
    line = " ".join(simple.words[1:])
    wanted = _STAYS.get(simple.program)
    if wanted is not None and not any(word in line for word in wanted):
        return False
    return not any(word in line for word in _LEAVES.get(simple.program, ()))


def never_ends(role: ExpandedRole) -> bool:
    """Whether the pods of a role visibly never end by themselves."""
    return any(endless(container) or is_daemon(container) for container in role.main)
