"""TrainJobPatch: what is different in a TrainJob on some of the clusters that run it (trainc.dev/v1alpha1)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from trainc.apiserver.models.inherited import Piece
from trainc.apiserver.models.node import Names, Resource
from trainc.apiserver.models.trainjob import TrainJobSpec


class TrainJobPatch(Resource):
    """A part of a TrainJob, merged over the TrainJob of the same name on the clusters of `trainc.dev/cluster`."""

    NAMES: ClassVar[Names] = Names("trainc.dev", "v1alpha1", "TrainJobPatch", "trainjobpatches")

    spec: Annotated[dict[str, object], Piece(TrainJobSpec)] | None = None
    """The fields that differ; maps and keyed lists are merged, null removes."""
