"""The commands that GitOps tools need, as part of the table of all commands."""

from __future__ import annotations

from trainc.cli.options import Command, Option, Options


def _cmp(options: Options) -> int:
    from trainc.cli.cmp import cmp  # noqa: PLC0415

    return cmp(options)


def _flux(options: Options) -> int:
    from trainc.cli.flux import flux  # noqa: PLC0415

    return flux(options)


COMMANDS = (
    Command(
        "cmp",
        "generate|parameters|paths [FOLDER]",
        "Be a config management plugin of Argo CD: compile the application in this folder, or announce parameters.\n"
        "`paths` prints the annotation manifest-generate-paths for the application of a folder.\n"
        "Reads ARGOCD_APP_PARAMETERS, ARGOCD_APP_NAMESPACE and ARGOCD_APP_SOURCE_PATH.",
        (),
        ("trainc cmp generate", "trainc cmp parameters", "trainc cmp paths jobs/research"),
        _cmp,
    ),
    Command(
        "flux",
        "FILE...",
        "List the rendered JobSets as health checks in the Kustomizations of these files.\n"
        "Flux leaves JobSets that it has created before out of `wait`; listed ones it checks each time.",
        (Option("--check", "write nothing; fail where a list is old"),),
        ("trainc flux deploy/flux.yaml", "trainc flux --check deploy/flux.yaml"),
        _flux,
    ),
)
