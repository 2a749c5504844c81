"""Kubeflow's SDK over a repository: `client.train()` writes a job as a file to review, instead of submitting it."""

import os
from typing import TYPE_CHECKING

from trainc.text.trouble import Trouble

if TYPE_CHECKING:
    from kubeflow.trainer import TrainerClient


def trainer_client(
    root: str | os.PathLike[str] = ".", *, folder: str = "jobs", namespace: str = "", replace: bool = False
) -> "TrainerClient":
    """A TrainerClient of the Kubeflow SDK whose jobs and runtimes are those of the project at `root`.

    `train` compiles the job and writes it to `<folder>/<name>.yaml`, in `namespace` where one is given. A job of that name
    is left alone unless `replace` says otherwise.

    Raises:
        Trouble: where the SDK is not installed, or `root` is not a folder.
    """
    try:
        from trainc.integrations.kubeflow.client import client_of  # noqa: PLC0415 (the SDK is an extra)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("kubeflow", "kubeflow_trainer_api", "kubernetes"):
            raise
        raise Trouble("the Kubeflow SDK is not installed: `pip install 'trainc[kubeflow]'`") from error
    if not os.path.isdir(root):
        raise Trouble(f"{os.fspath(root)}: not a folder")
    return client_of(os.path.abspath(root), folder, namespace, replace=replace)
