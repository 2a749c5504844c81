"""The files of a new repository, as `trainc init` writes them; their texts are in `files/`."""

import os
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from json import dumps, loads
from types import MappingProxyType

import trainc
from trainc import __version__
from trainc.cli.commands import GET_CAPACITY
from trainc.cli.options import Options
from trainc.text.trouble import Trouble
from trainc.yaml.spelling import text_of

UNDELIVERED = "  # delivery: argocd  # or flux: the tool that applies the manifests; sets its annotations and enables its checks\n"
_RULES = """\
  # Errors in existing jobs, reported as warnings. Fix the jobs, then remove the line; see `trainc explain RULE`.
  rules:
"""
# A queue for the whole cluster would take in jobs that misspell their own; Volcano's is the one that it takes itself.
QUEUES = {
    "kueue": ("  labels:\n    kueue.x-k8s.io/queue-name: default  # the LocalQueue that admits it\n", ""),
    "volcano": ("", "      queue: default\n"),
}
HEALTH = "deploy/argocd-health.yaml"  # of Argo CD itself, whichever clusters it deploys to
PLUGIN = {f"deploy/argocd-{name}.yaml": f"{name}.yaml" for name in ("plugin", "repo-server-patch")}  # of Argo CD, too
AT_TOP = (".pre-commit-config.yaml", ".github/workflows/manifests.yaml")
# Git writes no conflict markers into rendered files: `trainc build -w` renders them again.
ATTRIBUTES = "rendered/** text eol=lf -merge linguist-generated=true\n"
_NAMESPACE = "  namespace: training\n"


def _text(*path: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), "files", *path), encoding="utf-8") as stream:
        return stream.read()


def cluster_name(options: Options) -> str:
    cluster = options.one("cluster", "main")
    if not cluster.replace("-", "").isalnum() or not cluster.isascii() or cluster != cluster.lower():
        raise Trouble(f"`{cluster}` is not a valid cluster name: use lowercase letters, digits and dashes")
    return cluster


def project_text() -> str:
    """The settings of a new repository, with `{name}` where a word has to be filled in."""
    return _text("trainc.yaml").removesuffix("\n")


def hooks() -> str:
    """The entry of trainc in a configuration of pre-commit."""
    return _text("pre-commit-config.yaml").partition("repos:\n")[2]


def refresh(cluster: str) -> str:
    """The path of the script that writes what a cluster has."""
    return f"clusters/{cluster}/refresh.sh"


def origin() -> str:
    """What pip installed this trainc from, empty where no other machine finds that."""
    try:
        record = loads(distribution("trainc").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return ""
    url = record.get("url", "")
    if not url.startswith(("https://", "ssh://")):
        return ""
    commit = record.get("vcs_info", {})
    return f"{commit['vcs']}+{url}@{commit['commit_id']}" if commit else url


def errors_as_warnings(levels: Mapping[str, int]) -> str:
    """The entry `rules` of a trainc.yaml, for an old repository: `levels` has the number of jobs by rule."""
    rows = [f"    {rule}: warning  # {number} job{'s' * (number != 1)}\n" for rule, number in sorted(levels.items())]
    return "".join([_RULES, *rows]) if rows else ""


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text with a word in the place of each `{name}`."""
    return re.sub(r"\{(\w+)\}", lambda name: words[name[1]], text)


def spelled(text: str) -> str:
    """A text as YAML, also in a list on one line."""
    return dumps(text) if not {*",[]{}"}.isdisjoint(text) else text_of(text)


def scaffold(
    cluster: str,
    delivery: str,
    below: str = "",
    levels: Mapping[str, int] = MappingProxyType({}),
    scheduler: str = "",
    repository: tuple[str, str] = ("", ""),
) -> dict[str, str]:
    """The text of each file by its path; `delivery` is argocd, argocd-plugin, flux or empty, `below` the folder in the work tree.

    `repository` is the URL that others know it by, and its main branch; empty where that is not known.
    """
    url, branch = repository
    tool = delivery.removesuffix("-plugin")
    label, queue = QUEUES.get(scheduler, ("", ""))
    words = {
        "version": __version__,
        "cluster": cluster,
        "below": below,
        "branch": spelled(branch or "main"),
        "repository": spelled(url or "https://git.example.com/training.git"),
        "change": "" if url else " Set `repoURL` to your repository.",
        "delivery": f"  delivery: {tool}\n" if tool else UNDELIVERED,
        "rules": errors_as_warnings(levels),
        "label": label,
        "settings": f"      scheduler: {scheduler}\n{queue}" if scheduler else "",
        "refresh": refresh(cluster),
        "dump": GET_CAPACITY,
        "health": HEALTH,
        "install": origin() or "${{ vars.TRAINC }}",
    }
    files = {
        "trainc.yaml": project_text(),
        "jobs/hello.yaml": _text("jobs", "hello.yaml"),
        f"clusters/{cluster}/README.md": _text("clusters", "README.md"),
        refresh(cluster): _text("clusters", "refresh.sh"),
        ".pre-commit-config.yaml": _text("pre-commit-config.yaml"),
        ".github/workflows/manifests.yaml": _text("workflows", "manifests.yaml"),
        ".gitattributes": ATTRIBUTES,
    }
    if tool:
        files[f"deploy/{tool}.yaml"] = _text("deploy", f"{delivery}.yaml")
    written = {path: filled(text, words) for path, text in files.items()}
    if delivery == "argocd-plugin":
        for path, name in PLUGIN.items():
            written[path] = _of_argocd(name)
            for other, inner in PLUGIN.items():
                written[path] = written[path].replace(f"file={inner}", f"file=plugin.yaml={other}")
                written[path] = written[path].replace(f"patch-file {inner}", f"patch-file {other}")
    return written | {HEALTH: _health()} if tool == "argocd" else written


def _of_argocd(name: str) -> str:
    """A file of `deploy/argocd`: in the wheel, or beside the package in a checkout."""
    here = os.path.dirname(os.path.abspath(trainc.__file__))
    packed = os.path.join(here, "_data", "argocd", name)
    path = packed if os.path.exists(packed) else os.path.join(os.path.dirname(here), "deploy", "argocd", name)
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def _health() -> str:
    text = _of_argocd("health.yaml")
    text = text.replace("--patch-file health.yaml", f"--patch-file {HEALTH}")
    return text.replace("use health-started.yaml", "use deploy/argocd/health-started.yaml of trainc's repository")


def with_labels(job: str) -> str:
    """The first job of a repository with the labels that one of the policies asks for."""
    labels = "    owner: me\n    cost-centre: research\n"
    head, key, rest = job.partition("  labels:\n")
    return f"{head}{key}{labels}{rest}" if key else job.replace(_NAMESPACE, f"{_NAMESPACE}  labels:\n{labels}", 1)


def starter_policies() -> dict[str, str]:
    names = ("allowed-runtimes", "allowed-registries", "accelerators-per-job", "required-labels")
    return {f"policies/{name}.yaml": _text("policies", f"{name}.yaml") for name in names}
