"""What commands run: shell syntax without a shell, scripts that the image lacks, processes that never end."""

import os.path
from itertools import pairwise

from trainc.lint.facts.job import INIT, Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.launch import NOTHING, PYTHON
from trainc.lint.facts.shell import SHELLS, grammar, is_readable
from trainc.lint.facts.storage import mount_of
from trainc.lint.facts.timing import counts, endless, is_daemon
from trainc.lint.facts.values import flag, repository, rows, table, templated, text, texts
from trainc.model.finding import ERROR, NOTE, WARNING, Finding, Label, Rule, place
from trainc.model.sourced import Span

SLEEP = Rule("endless-sleep", WARNING)
ONE_WORD = Rule("command-in-one-word", ERROR)
ENDLESS_INIT = Rule("endless-init-container", ERROR)
SIDECAR = Rule("endless-sidecar", ERROR)
BRANCH = Rule("unpinned-download", WARNING)
INSTALL = Rule("install-at-start", NOTE)
NO_LAUNCHER = Rule("launcher-missing", WARNING)
LAUNCHER_SETS = Rule("launcher-sets-it", NOTE)
SHELL_WORDS = Rule("shell-words-without-shell", ERROR)
IGNORED_WORDS = Rule("shell-words-ignored", ERROR)
TYPOGRAPHY = Rule("typographic-character", ERROR)
NO_SCRIPT = Rule("script-not-in-image", WARNING)
URL = Rule("malformed-url", WARNING)
NOT_READ = Rule("script-not-read", ERROR)

_SHELL = frozenset("&|;<>$`'\"()\n")
_LONG = 60  # characters of a line that a message repeats
_DASHES, _QUOTES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "\u2018\u2019\u201c\u201d\u201e"
_JOINING = frozenset(("&&", "||", "|", ";", ">", ">>", "2>", "2>&1", "&>", "<"))
# Public images that hold a framework and no program, each with its working directory; empty where that is not known.
LIBRARY_IMAGES = {
    "docker.io/library/python": "/",
    "docker.io/library/ubuntu": "/",
    "docker.io/paddlepaddle/paddle": "",
    "docker.io/pytorch/pytorch": "/workspace",
    "docker.io/tensorflow/tensorflow": "",
    "ghcr.io/kubeflow/trainer/deepspeed-runtime": "/home/mpiuser",
    "ghcr.io/kubeflow/trainer/mlx-runtime": "/home/mpiuser",
    "ghcr.io/kubeflow/trainer/torchtune-trainer": "/workspace",
    "ghcr.io/kubeflow/trainer/xgboost-runtime": "/workspace",
    "nvcr.io/nvidia/jax": "",
}
# Directories in which such an image has scripts of its own.
_SYSTEM = ("/bin/", "/etc/", "/lib", "/opt/", "/sbin/", "/usr/", "/home/mpiuser/.local/")
# Variants of their tags that hold programs or notebooks.
_WITH_PROGRAMS = ("jupyter", "maxtext", "paxml", "rosetta")
_WITH_WORKERS = frozenset(("vllm", "sglang", "lmdeploy", "tensorrt_llm", "ray"))
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 (a path of the pod)
_SCHEMES = ("gs", "s3", "s3a", "abfs", "abfss", "az", "wasbs", "oss", "oci", "cos", "obs", "tos", "hf", "http", "https")


def script_not_read(job: Job) -> Findings:
    for container in job.containers:
        if container.script and not is_readable(container.script):
            job.report.skip("a script is too long to read")
        elif container.script and grammar() is None:
            help_ = "install them with `pip install tree-sitter tree-sitter-bash`, or skip the checks with `--ignore script-not-read`"
            effect = "mistakes in its commands and launchers are not found"
            message = "`tree-sitter` and `tree-sitter-bash` are missing, so no script is checked"
            yield NOT_READ.at(job.at(container.script_path), message, effect=effect, help=help_)
            return


def endless_sleep(container: Container) -> Findings:
    if container.devices and endless(container) and not is_daemon(container):
        message = f"`{container.name}` sleeps forever and holds its accelerators"
        effect = "nothing trains, and you pay for the accelerators until you delete the job"
        help_ = "run the training, or remove the accelerators"
        yield SLEEP.at(container.at_word("sleep", "tail"), message, effect=effect, help=help_)


def command_in_one_word(container: Container) -> Findings:
    program = next(iter(texts(container.tree, "command")), "")
    if " " in program and "$(" not in program:
        message = f"`{container.name}` runs a program named `{_short(program)}`"
        effect = "no such file exists: the container never starts"
        yield ONE_WORD.at(container.at("command", 0), message, effect=effect, help=_apart(program))
    elif program.rpartition("/")[2] in SHELLS and not container.script:
        places = list(container.placed_words())[1:]
        path, file = next((one for one in places if one[1][:1] not in ("-", "+")), ((), ""))
        if " " in file and "$" not in file:
            message = f"`{program}` runs a file named `{_short(file)}`"
            effect = "no such file exists: the container fails at once"
            yield ONE_WORD.at(container.role.job.at(path), message, effect=effect, help="add `-c` before it")
    elif not program and len(container.words) == 1:
        (line,) = container.words
        first, space, _ = line.partition(" ")
        known = (*container.role.job.vocabulary.programs, *SHELLS, "python", "python3")
        if space and first.rpartition("/")[2] in known:
            message = f"the image's entrypoint gets `{_short(line)}` as one argument"
            effect = "unless the entrypoint is a shell, it looks for a program of that name, and fails"
            yield ONE_WORD.at(container.at("args", 0), message, effect=effect, help=_apart(line), level=WARNING)


def shell_words_ignored(container: Container) -> Findings:
    script = container.script
    places = list(container.placed_words()) if script else []
    at = next((at for at, place in enumerate(places) if place[1] == script), len(places))
    words = [word for _, word in places[at + 1 :]]
    if not words or any(f"${mark}{one}" in script for mark in ("", "{") for one in "@*#0123456789"):
        return
    is_line = any(char.isspace() for char in script)
    # The first of them is what the shell calls itself; some write a name there.
    if all(word in ("-", "--", "_") or word.rpartition("/")[2] in SHELLS for word in words) or (
        is_line and len(words) == 1 and words[0][0:1] != "-"
    ):
        return
    counted = "the word" if len(words) == 1 else f"the {len(words)} words"
    message = f"the shell runs `{_short(script)}` and ignores {counted} behind it"
    help_ = 'write the whole line in one word behind `-c`, or let the script pass them on with `"$@"`'
    span, level = container.role.job.at(places[at + 1][0]), WARNING if is_line else ERROR
    yield IGNORED_WORDS.at(span, message, effect="the program gets none of them", help=help_, level=level)


def typographic_character(job: Job) -> Findings:
    for container in job.containers if not job.text.isascii() else ():
        for simple in container.commands:
            for word in simple.words if simple.program not in ("echo", "printf") else ():
                if len(word) > 1 and word[0] in _DASHES:
                    message = f"`{_short(word)}` begins with a typographic dash (U+{ord(word[0]):04X})"
                    effect = "the program takes it for a file or a value, not for an option"
                    help_ = "write a hyphen: `-`"
                    yield TYPOGRAPHY.at(container.at_word(word), message, effect=effect, help=help_)
                elif word and (word[0] in _QUOTES or word[-1] in _QUOTES):
                    mark = word[0] if word[0] in _QUOTES else word[-1]
                    message = f"`{_short(word)}` has a typographic quotation mark (U+{ord(mark):04X})"
                    effect = "no shell treats it as a quote: it is a part of the word"
                    help_ = "write `\"` or `'`"
                    yield TYPOGRAPHY.at(container.at_word(word), message, effect=effect, help=help_, level=WARNING)


def _apart(program: str) -> str:
    """How a line is written as a command: word by word, or for a shell where it needs one."""
    words = ", ".join(f'"{word}"' for word in program.split())
    if not _SHELL.isdisjoint(program) or len(words) > _LONG:
        return "run the line in a shell: `[sh, -c, LINE]`"
    return f"write each word separately: `[{words}]`"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONG else f"{line[:_LONG]}..."


def endless_init_container(container: Container) -> Findings:
    if container.kind is INIT and (endless(container) or is_daemon(container)):
        message = f"init container `{container.name}` never ends"
        help_ = "add `restartPolicy: Always`, which makes it a sidecar that ends with them"
        yield ENDLESS_INIT.at(container.at("name"), message, effect="the other containers never start", help=help_)


def endless_sidecar(role: ExpandedRole) -> Findings:
    if len(role.main) < 2 or not counts(role):
        return
    at_work = [one for one in role.main if one.devices or one.launch.launcher is not NOTHING]
    trains = next((one for one in at_work if not endless(one) and not is_daemon(one)), None)
    if trains is None:
        return
    for container in role.main:
        if container is not trains and not container.devices and (endless(container) or is_daemon(container)):
            message = f"`{container.name}` never ends, so the pods of `{role.name}` never complete"
            also = [Label(trains.at("name"), "ends when the training does")]
            effect = "the Job never completes, and its accelerators stay allocated after the training"
            help_ = "move it to `initContainers` with `restartPolicy: Always`, which makes it a sidecar that ends with the others"
            yield SIDECAR.at(container.at("name"), message, also=also, effect=effect, help=help_)


def unpinned_download(container: Container) -> Findings:
    for simple in container.commands if "http" in container.text else ():
        url = next((w for w in simple.words if w.startswith("http") and ("/master/" in w or "/main/" in w)), "")
        if simple.program in ("curl", "wget") and url:
            message = f"`{simple.program}` downloads the current state of a branch: `{url}`"
            effect = "pods that start at different times may run different code"
            help_ = "use a commit or a tag in the URL, or add the file to the image"
            yield BRANCH.at(container.at_word(url), message, effect=effect, help=help_)


def install_at_start(container: Container) -> Findings:
    for simple in container.commands if "install" in container.text else ():
        words = simple.words
        if "install" not in words or not any(w.startswith(("pip", "apt")) for w in words[:3]):
            continue
        named = [word for word in words[words.index("install") + 1 :] if word[:1].isalpha()]
        loose = [w for w in named if "=" not in w and "/" not in w and not w.endswith((".txt", ".whl"))]
        if loose and "-r" not in words and not loose[0].startswith("git+"):
            listed = ", ".join(f"`{name}`" for name in loose[:3])
            pods = container.role.count if container.role.several else 1
            message = f"each pod installs {listed} without a version when it starts"
            effect = f"{pods} downloads at each start, and versions may change between restarts"
            help_ = "install them in the image, or pin versions"
            yield INSTALL.at(container.at_word("install"), message, effect=effect, help=help_)
            break


def launcher_missing(job: Job) -> Findings:
    launchers = [launcher for launcher in job.vocabulary.launchers if launcher.nodes[1] in job.names]
    for container in job.main if launchers else ():
        fitting = [launcher for launcher in launchers if launcher.nodes[1] in container.env]
        counts = {name: n for name, n in container.devices.items() if type(n) is int}
        most = max(counts.values(), default=0)
        if container.launch.launcher is not PYTHON or most < 2 or not fitting or _starts_its_own(container):
            continue
        resource, family = max(counts, key=lambda name: counts[name]), fitting[0].nodes[1].partition("_")[0]
        message = f"plain python starts one process in a pod with {most} accelerators"
        also = [Label(container.at("resources", "limits", resource), f"{most} here")]
        meets = ", and the pods do not find each other" if container.role.several or len(job.roles) > 1 else ""
        effect = f"unless the program starts processes itself, {most - 1} of {most} accelerators are idle{meets}"
        help_ = f"start it with `{fitting[0].name}`, which reads the {family}_* variables set here"
        yield NO_LAUNCHER.at(container.at_word("python"), message, also=also, effect=effect, help=help_)


def _starts_its_own(container: Container) -> bool:
    """Whether a program starts a process for each accelerator itself."""
    module = container.launch.program[1:2] if container.launch.program[:1] == ["-m"] else []
    names = (*module, *[simple.program for simple in container.commands])
    return "tensor_parallel_size" in container.options or any(name.partition(".")[0] in _WITH_WORKERS for name in names)


def launcher_sets_it(container: Container) -> Findings:
    launcher = container.launch.launcher
    for name in container.replaced:
        # The variables that an operator sets are in no file; a rank among them can be passed on.
        if name in container.role.job.vocabulary.ranks or place(container.env[name]["name"].origin) is not None:
            message = f"`{launcher.name}` sets `{name}` itself in every process"
            effect = "the training never sees the value set here"
            help_ = "remove it"
            if launcher.rank[0] and name in container.role.job.vocabulary.ranks:
                help_ = f"remove it, or pass it on: `--{launcher.rank[0]}=$({name})`"
            yield LAUNCHER_SETS.at(container.env_at(name), message, effect=effect, help=help_)


def shell_words_without_shell(container: Container) -> Findings:
    if _JOINING.isdisjoint(container.words) or not texts(container.tree, "command"):
        return
    if any(word.rpartition("/")[2] in SHELLS for word in container.words) or "-c" in container.words:
        return  # a shell, or an unknown program, reads them
    line = container.text
    line = line if len(line) <= 60 and '"' not in line else f"{line[:50].replace(chr(34), '')} ..."
    for (_, before), (path, word) in pairwise(container.placed_words()):
        if word in _JOINING and before and not before.startswith("-"):
            effect = f"`{container.words[0]}` gets `{word}` and everything after it as arguments"
            help_ = f'run it in a shell: `[sh, -c, "set -e; {line}"]`'
            yield SHELL_WORDS.at(
                container.role.job.at(path), f"no shell interprets `{word}` here", effect=effect, help=help_
            )
            break


def shell_words_for_flux(job: Job) -> Findings:
    """Find what the command of a MiniCluster leaves to a shell: the operator hands its words to Flux as they are."""
    document = job.bundle.document
    for index, container in enumerate(rows(table(document.tree, "spec"), "containers")):
        words = text(container, "command").split()
        end = next((word for word in words[1:] if word in _JOINING or word == "&"), "")
        has_shell = flag(container, "batch") or any(word.rpartition("/")[2] in SHELLS for word in words)
        if document.kind == "MiniCluster" and end and not has_shell:
            at = document.span(("spec", "containers", index, "command"))
            effect = f"`{words[0]}` gets `{end}` and everything after it as arguments"
            help_ = "write the lines to `commands.script`, which bash runs"
            yield SHELL_WORDS.at(at, f"no shell interprets `{end}` here", effect=effect, help=help_)


def script_not_in_image(job: Job) -> Findings:
    seen: set[tuple[str, str]] = set()
    for container in job.main:
        public, tag = repository(text(container.tree, "image"), job.cluster)
        is_library = public in LIBRARY_IMAGES and not any(variant in tag for variant in _WITH_PROGRAMS)
        script = _script(container) if is_library else ""
        if not script or (script, public) in seen or _may_be_there(container, script, LIBRARY_IMAGES[public]):
            continue
        seen.add((script, public))
        field = "`spec.trainer.image`" if job.bundle.document.kind == "TrainJob" else "`image`"
        message = f"`{script}` is not in the public image `{public}`"
        also = [Label(container.at("image"), "this image contains only libraries")]
        effect = "the pods are scheduled, start, and fail: the file does not exist"
        help_ = f"build your own image with the program and set it in {field}, or mount a volume with the program"
        yield NO_SCRIPT.at(container.at_word(script), message, also=also, effect=effect, help=help_)


def _script(container: Container) -> str:
    """The file that a command runs as a program; empty where it is a module, a text, a shell's line or not known here."""
    launch = container.launch
    if container.script or "lifecycle" in container.tree or not {"m", "module"}.isdisjoint(launch.flags):
        return ""
    words = container.words if launch.launcher is NOTHING else launch.program
    index = 0
    while index < len(words):
        word = words[index]
        if word.endswith((".py", ".sh")):
            return "" if word.startswith("-") or "://" in word or "$" in word or templated(word) else word
        base = word.rpartition("/")[2]
        if word.startswith(("-m", "-c")) or not (word.startswith("-") or base in SHELLS or base.startswith("python")):
            return ""
        index += 2 if word in ("-W", "-X") else 1
    return ""


def _may_be_there(container: Container, script: str, directory: str) -> bool:
    """Whether a volume may hold the script, or the image has a script of that path itself."""
    mounts = [mount for mount in rows(container.tree, "volumeMounts") if text(mount, "mountPath") != _SHARED_MEMORY]
    where = text(container.tree, "workingDir") or directory
    if "$" in where or any("$" in text(mount, "mountPath") for mount in mounts):
        return True
    if not where and not script.startswith("/"):
        return bool(mounts)
    path = os.path.normpath(os.path.join(where, script))
    return not directory or path.startswith(_SYSTEM) or bool(mount_of(container, path)[0])


def malformed_url(container: Container) -> Findings:
    for name, written in container.literals.items():
        if right := _url_meant(written):
            yield _malformed(container.env_at(name, "value"), written, right)
    for simple in container.commands if ":/" in container.text or "//" in container.text else ():
        for word in (*simple.words, *simple.assigned.values()):
            content = word.partition("=")[2] or word
            if right := _url_meant(content):
                yield _malformed(container.at_word(content), content, right)


def _url_meant(written: str) -> str:
    """The URL that was meant where a text is none for a slip in what follows its scheme, "" for all other texts."""
    scheme, slash, rest = written.partition("/")
    scheme, colon, behind = scheme.partition(":")
    host = rest.lstrip("/")
    slashes = len(rest) - len(host) + 1
    is_slip = slash and host and not behind and scheme in _SCHEMES and slashes != (2 if colon else 1)
    return f"{scheme}://{host}" if is_slip else ""


def _malformed(span: Span, written: str, right: str) -> Finding:
    effect = "programs take it for a path in the container, and what they write there is lost with the pod"
    if written.startswith("http"):
        effect = "nothing connects to it"
    return URL.at(span, f"`{_short(written)}` is not a URL", effect=effect, help=f"write `{_short(right)}`")


CHECKS = (
    each(
        lambda job: job.containers,
        command_in_one_word, shell_words_ignored, endless_init_container, unpinned_download,
        shell_words_without_shell, malformed_url,
    ),
    each(lambda job: job.main, endless_sleep, install_at_start, launcher_sets_it),
    each(lambda job: job.roles, endless_sidecar),
    script_not_read, typographic_character, launcher_missing, shell_words_for_flux, script_not_in_image,
)  # fmt: skip
