"""`trainc build`: compile, write everything or nothing, and report."""

import sys
from glob import glob
from os.path import join

from trainc.cli.compiling import Nothing, compiled, one_stream
from trainc.cli.options import Options
from trainc.cli.projects import across_projects
from trainc.cli.session import Session
from trainc.compiler.emit.spool import StreamSpool
from trainc.compiler.project import find_root, open_project
from trainc.model.report import Report
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.caching.run_cache import RunCache


def run(options: Options, run_cache: "RunCache | None" = None) -> int:
    """Compile to standard output, or into a folder; the latter uses what is known, and adds to it."""
    if options.has("staged"):
        if options.has("write") or (options.has("output") and not options.has("check")):
            raise Trouble("--staged reads the next commit; use it with --check, not with -w or -o")
        from trainc.cli.git_scope import run_staged  # noqa: PLC0415 (Git is read only where it is asked for)

        return run_staged("build", run, options)
    if run_cache is not None and run_cache.known is not None:
        return _build_project(options, run_cache)
    own_folders = (options.has("write") or options.has("check")) and not options.has("output")
    return across_projects(options, lambda one: _build_project(one, run_cache), one_output=not own_folders)


def _health_lists(options: Options) -> list[str]:
    """The files of the project in which Flux has a list of its rendered jobs."""
    root = find_root((options.arguments or ["."])[0])[0]
    if not glob(join(root, "deploy", "flux*")):
        return []
    from trainc.cli.flux import lists_of  # noqa: PLC0415 (as above)

    return lists_of(root, open_project((root,), Report()).output)


def _build_project(options: Options, run_cache: "RunCache | None") -> int:
    if any(options.has(name) for name in ("output", "write", "check")):
        from trainc.cli.rendered import build_folder  # noqa: PLC0415 (most runs write to stdout)

        lists = [] if options.has("output") else _health_lists(options)
        # What the cache knows is an answer about rendered files alone.
        code = build_folder(options, None if lists else run_cache)
        if not lists or (code and not options.has("check")):
            return code
        from trainc.cli.flux import refreshed  # noqa: PLC0415 (few repositories have such lists)

        return max(code, refreshed(lists, check=options.has("check"), command="trainc build -w"))
    for name in ("rerender", "changed_since"):
        if options.has(name):
            raise Trouble(f"--{name.replace('_', '-')} is for rendered files; add -w, --check or -o DIR")
    session = Session(options)
    one_stream(session)
    spool = StreamSpool(sys.stdout, json=options.one("format") == "json")
    compiled(session, spool)
    code = session.finish(spool.jobs, streams=spool.streams)
    if spool.objects == 0 and code == 0:
        raise Nothing(session)
    return code
