"""The table of Kubeflow's older kinds: how the roles of each become replicatedJobs."""

from __future__ import annotations

from trainc.kinds.jaxjob.plan import jax
from trainc.kinds.mpijob.plan import mpi, mpi_ssh
from trainc.kinds.paddlejob.plan import paddle
from trainc.kinds.pytorchjob.plan import pytorch
from trainc.kinds.table import LISTED, MPI_OPERATOR
from trainc.kinds.tfjob.listed_plan import listed
from trainc.kinds.tfjob.plan import tensorflow
from trainc.kinds.xgboostjob.plan import xgboost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainc.kinds.shared.job import LegacyJob
    from trainc.kinds.shared.layout import JobLayout


SHAPES: Mapping[str, Callable[[LegacyJob], JobLayout | None]] = {
    "JAXJob": jax,
    "PyTorchJob": pytorch,
    "TFJob": tensorflow,
    "XGBoostJob": xgboost,
    "PaddleJob": paddle,
    "MPIJob": mpi,
    MPI_OPERATOR: mpi_ssh,
    LISTED: listed,
}
