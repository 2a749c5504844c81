"""The commands that GitOps tools need, as part of the table of all commands."""

from __future__ import annotations

from trainc.cli.shared.options import Command, Option, Options


def _cmp(options: Options) -> int:
    from trainc.cli.cmp import cmp  # noqa: PLC0415

    return cmp(options)


def _flux(options: Options) -> int:
    from trainc.cli.flux import flux  # noqa: PLC0415

    return flux(options)


def _fn(options: Options) -> int:
    from trainc.cli.fn import fn  # noqa: PLC0415

    return fn(options)


COMMANDS = (
    Command(
        "cmp",
        "generate|parameters|paths [FOLDER]",
        "Run as an Argo CD config management plugin: compile the application in this folder, or announce its parameters.\n"
        "`paths` prints the manifest-generate-paths annotation for the application of a folder.\n"
        "Reads ARGOCD_APP_PARAMETERS, ARGOCD_APP_NAMESPACE and ARGOCD_APP_SOURCE_PATH.",
        (),
        ("trainc cmp generate", "trainc cmp parameters", "trainc cmp paths jobs/research"),
        _cmp,
    ),
    Command(
        "flux",
        "FILE...",
        "Add the rendered JobSets as health checks to the Flux Kustomizations in these files.\n"
        "`wait` skips JobSets that Flux created earlier; Flux checks listed ones every time.",
        (Option("--check", "write nothing; fail if a list is out of date"),),
        ("trainc flux deploy/flux.yaml", "trainc flux --check deploy/flux.yaml"),
        _flux,
    ),
    Command(
        "fn",
        "",
        "Run as a KRM function for kustomize and kpt: read a ResourceList from stdin, write one to stdout. Jobs are compiled\n"
        "in place, other items are unchanged, findings become results. functionConfig is a ConfigMap, or a Build or\n"
        "Validate of trainc.dev/v1alpha1, with options of `build` and cluster settings.",
        (),
        ('kpt fn eval . --exec "trainc fn" --output unwrap', "trainc fn < resources.yaml"),
        _fn,
    ),
)
