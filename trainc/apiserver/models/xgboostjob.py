"""XGBoostJob (kubeflow.org/v1, training operator v1.9.0), for LightGBM too."""

from __future__ import annotations

from typing import ClassVar

from trainc.apiserver.models.node import ApiObject, Names, Resource
from trainc.apiserver.models.policy import COLUMNS, LegacyJobStatus, ReplicaSpec, RunPolicy


class XGBoostJobSpec(ApiObject):
    """Processes that meet at their master, by rabit or as LightGBM's machines."""

    run_policy: RunPolicy | None = None
    """When the job ends and what is cleaned up."""
    xgb_replica_specs: dict[str, ReplicaSpec]
    """The roles `Master` (one pod) and `Worker`; their main container is called `xgboost`."""


class XGBoostJob(Resource):
    """An XGBoost or LightGBM job of the training operator; TrainJob is its successor."""

    NAMES: ClassVar[Names] = Names("kubeflow.org", "v1", "XGBoostJob", "xgboostjobs", status=True, columns=COLUMNS)

    spec: XGBoostJobSpec | None = None
    """What is to run."""
    status: LegacyJobStatus | None = None
    """What has been seen to run."""
