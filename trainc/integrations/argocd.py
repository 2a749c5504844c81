"""What Argo CD hands to its plugin: the parameters of an application, and the repository that it unpacked."""

import os
from typing import Any, NamedTuple

from trainc.compiler import pipeline
from trainc.compiler.load import Loader
from trainc.compiler.load.walk import known_files
from trainc.compiler.project import open_project
from trainc.lint.across_jobs import SharedNames
from trainc.model.references import References
from trainc.model.report import Report
from trainc.model.settings import FILE, Project, Selection
from trainc.text.embedded_json import json_value
from trainc.text.files import work_tree
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

_SHAPES = {"cluster": "string", "paths": "array"}


class Parameters(NamedTuple):
    """What an application asks for; empty is its way to say nothing."""

    cluster: str = ""
    paths: tuple[str, ...] = ()


def parameters(text: str) -> Parameters:
    """The parameters in ARGOCD_APP_PARAMETERS; none where the variable is empty or `null`.

    Trouble for text that is not a list of parameters, and for parameters that are unknown, twice there, or misshapen.
    """
    try:
        listed = json_value(text) if text.strip() else None
    except ValueError as error:
        raise Trouble("ARGOCD_APP_PARAMETERS is not valid JSON") from error
    if listed is None:
        return Parameters()
    if type(listed) is not list:
        raise Trouble("ARGOCD_APP_PARAMETERS is not a list of parameters")
    values: dict[str, Any] = {}
    for entry in listed:
        name, content = _parameter(entry)
        if name in values:
            raise Trouble(f"parameter `{name}` is given twice")
        values[name] = content
    return Parameters(values.get("cluster") or "", tuple(values.get("paths") or ()))


def _parameter(entry: Any) -> tuple[str, Any]:
    name = entry.get("name") if type(entry) is dict else None
    if type(name) is not str:
        raise Trouble("a parameter of the application has no name")
    if (shape := _SHAPES.get(name)) is None:
        hint = meant(name, _SHAPES, f"parameters: {', '.join(_SHAPES)}")
        raise Trouble(f"unknown parameter `{name}`; {hint}")
    for key in entry:
        if key not in ("name", shape) and entry[key] is not None:
            raise Trouble(f"parameter `{name}` is given as {key}; it takes `{shape}`")
    content = entry.get(shape)
    if content is not None and shape == "string" and type(content) is not str:
        raise Trouble(f"parameter `{name}` is not a string")
    if content is not None and shape == "array" and type(content) is not list:
        raise Trouble(f"parameter `{name}` is not a list of strings")
    for item in content or () if shape == "array" else ():
        is_text = type(item) is str and bool(item)
        if not is_text or item.startswith(("/", "-")) or ".." in item.split("/") or "\0" in item:
            raise Trouble(f"parameter `paths`: `{item}` is not a path below the application's folder")
    return name, content


class Upload(NamedTuple):
    """The top of what was unpacked, empty where nothing says it, and whether that is the top of the repository."""

    top: str
    whole: bool


def upload(source_path: str) -> Upload:
    """What was unpacked around the working directory, which is the application's path (ARGOCD_APP_SOURCE_PATH).

    With manifest-generate-paths the server sends the deepest folder that holds all of them, and the working directory
    lies below it by the last parts of the application's path alone.
    """
    here = os.path.realpath(".")
    if not source_path:
        return Upload("", whole=False)
    parts = [part for part in os.path.normpath(source_path).split(os.sep) if part not in (".", "")]
    while parts and os.path.basename(here) == parts[-1]:
        here = os.path.dirname(here)
        parts.pop()
    return Upload(here, whole=not parts)


def is_complete(project: Project, sent: Upload) -> bool:
    """Whether everything that a job of this project may name was unpacked, as far as it is in the repository."""
    return bool(project.file) or sent.whole or os.path.exists(os.path.join(project.root, ".git"))


def paths_of(folder: str) -> str:
    """The value of the annotation manifest-generate-paths for the application of a folder.

    It names the folder, and what its jobs are compiled with: trainc.yaml, folders of runtimes, what is known of the
    clusters, policies, files with what its jobs name, and the rendered files that runs are kept by.
    """
    if not os.path.isdir(folder):
        raise Trouble(f"{folder}: no such folder")
    project = open_project((folder,), Report())
    top = work_tree(project.root) or project.root
    selection = Selection((os.path.relpath(os.path.realpath(folder), project.root).replace(os.sep, "/"),))
    below = [FILE] if project.file else []
    if project.runtimes is not None:
        below += project.runtimes
    else:
        nearest = map(Loader(project, selection, Report()).nearest, known_files(project, selection.paths))
        below += sorted({near for near in nearest if near})
    # The files that hold what the jobs name.
    references, together, report = References(), SharedNames(), Report()
    for bundle in pipeline.bundles(project, selection, report):
        together.add(bundle, report)
        references.add(bundle, bundle.objects)
    objects = pipeline.referenced_objects(project, selection, references, report, together)
    below += sorted({bundle.document.file for bundle in objects})
    below += [cluster.folder for cluster in project.clusters if cluster.folder]
    below += project.policy_folders
    if os.path.isdir(os.path.join(project.root, project.output)):
        below.append(project.output)
    prefix = os.path.relpath(project.root, top)
    normal = [os.path.normpath(os.path.join(prefix, path)).replace(os.sep, "/") for path in below]
    inner = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    outside = [path for path in dict.fromkeys(normal) if inner != "." and not f"{path}/".startswith(f"{inner}/")]
    return ";".join([".", *(f"/{path}" for path in outside)])
