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
    Command(
        "fn",
        "",
        "Be a KRM function of kustomize and kpt: a ResourceList on stdin, one on stdout. Jobs are compiled in their places,\n"
        "other items stay as they are, findings are results. functionConfig is a ConfigMap, or Build or Validate of\n"
        "trainc.dev/v1alpha1, with options of `build` and settings of the cluster.",
        (),
        ('kpt fn eval . --exec "trainc fn" --output unwrap', "trainc fn < resources.yaml"),
        _fn,
    ),
)
