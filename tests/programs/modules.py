"""Builds the programs of `programs.toml`, each once, into a folder that is kept from run to run."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
TABLE = HERE / "programs.toml"
_STAGING = "./staging/"  # where the source of Kubernetes has its libraries; a module has them as modules


class NotBuiltError(Exception):
    """Why a program cannot be built, in one line."""


class Program(NamedTuple):
    """One version of a program: the module that it comes from, and how it is built."""

    name: str
    version: str
    module: str
    package: str  # what is built: a package of the module, or the folder's own
    files: tuple[str, ...]  # folders of the module
    tags: str
    version_variable: str  # the variable of the program that holds its version

    @property
    def id(self) -> str:
        """Name and version, such as `trainer-2.3.0`."""
        return f"{self.name}-{self.version}"

    @property
    def folder(self) -> Path:
        """Where its go.mod stands, and what is its own source."""
        return HERE / self.name

    @property
    def pins(self) -> Path:
        """The file that pins all its modules; the sums stand beside it."""
        return self.folder / f"{self.version}.mod"


def programs() -> list[Program]:
    """All programs of the table, in its order."""
    with TABLE.open("rb") as file:
        table = tomllib.load(file)
    return [
        Program(
            name,
            version,
            entry["module"],
            entry.get("package", "."),
            tuple(entry.get("files", ())),
            entry.get("tags", {}).get(version, ""),
            entry.get("version_variable", ""),
        )
        for name, entry in table.items()
        for version in entry["versions"]
    ]


def cache() -> Path:
    """Where built programs are kept: TRAINC_PROGRAMS, or a folder of the user's cache."""
    chosen = os.environ.get("TRAINC_PROGRAMS")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainc-programs"


def has_go() -> bool:
    """Whether Go is installed."""
    return shutil.which("go") is not None


def built(program: Program) -> Path:
    """The folder with the program, `program`, and the files of its module; it is built where it is not there."""
    if not has_go():
        raise NotBuiltError(f"{program.id} is not built: Go is not installed")
    if not program.pins.exists():
        _pin(program)
    target = cache() / f"{program.id}-{_key(program)}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(cache() / "lock"):
            if not target.exists():
                _build(program, target)
    except OSError as error:
        raise NotBuiltError(f"{program.id} is not built: {error.strerror}: {error.filename}") from error
    return target


def _key(program: Program) -> str:
    """What a build depends on, in short: the pins, the sources, the compiler, and how it is called."""
    content = hashlib.sha256(repr(program).encode())
    content.update(_go(program, "env", "GOVERSION", "GOARCH", "GOOS").encode())
    sources = [program.pins, program.pins.with_suffix(".sum"), *sorted(program.folder.glob("*.go"))]
    for source in sources:
        content.update(source.name.encode() + source.read_bytes())
    return content.hexdigest()[:12]


def _build(program: Program, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="building-") as place:
        made = Path(place) / "made"
        made.mkdir()
        flags = "-s -w"
        if program.version_variable:
            flags += f" -X {program.version_variable}=v{program.version}"
        options = ("-modfile", program.pins.name, "-p", "2", "-trimpath", "-tags", program.tags, "-ldflags", flags)
        _go(program, "build", *options, "-o", str(made / "program"), program.package)
        module = _go(program, "list", "-modfile", program.pins.name, "-m", "-f", "{{.Dir}}", program.module).strip()
        for folder in program.files:
            shutil.copytree(Path(module) / folder, made / "files" / folder)
        for path in made.rglob("*"):  # a module's files are read-only
            path.chmod(0o755 if path.is_dir() or path.name == "program" else 0o644)
        made.rename(target)


def _pin(program: Program) -> None:
    """Write the file of pins of a version that has none yet, with the replacements of its own go.mod."""
    lines = ["module programs/" + program.name, "", "go 1.26.0", "", f"require {program.module} v{program.version}"]
    found = _go(program, "mod", "download", "-json", f"{program.module}@v{program.version}")
    _, _, rest = found.partition('"GoMod": "')
    minor = program.version.partition(".")[2]
    for line in Path(rest.partition('"')[0]).read_text("utf-8").splitlines():
        old, arrow, new = line.removeprefix("replace ").strip().partition(" => ")
        if arrow and new.startswith(_STAGING):
            new = f"{old} v0.{minor}"
        if arrow and not new.startswith("."):
            lines += ["", f"replace {old} => {new}"]
    program.pins.write_text("\n".join(lines) + "\n", "utf-8")
    try:
        with tempfile.TemporaryDirectory() as place:
            options = ("-mod=mod", "-modfile", program.pins.name, "-tags", program.tags)
            _go(program, "build", *options, "-o", place + "/program", program.package)
    except NotBuiltError:
        program.pins.unlink()
        raise


def _go(program: Program, *words: str) -> str:
    """What a command of Go prints, run with few claims on the machine."""
    nice = shutil.which("nice")
    command = [*([nice, "-n", "15"] if nice else []), "go", *words]
    result = subprocess.run(command, cwd=program.folder, capture_output=True, text=True, check=False)
    if result.returncode:
        said = [line for line in result.stderr.splitlines() if line and not line.startswith("go: downloading")]
        raise NotBuiltError(f"{program.id} is not built: {said[-1] if said else f'go {words[0]} failed'}")
    return result.stdout


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One build at a time on a machine: a linker takes gigabytes."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
