"""Names by which programs know each other's objects: APIs, labels, annotations, fields, managers, resources."""

TRAINER_API = "trainer.kubeflow.org/v1alpha1"
FORMER_TRAINER_API = "kubeflow.org/v2alpha1"  # the same kinds until February 2025
JOBSET_API = "jobset.x-k8s.io/v1alpha2"

GPU_RESOURCE, TPU_RESOURCE, NEURON_RESOURCE = "nvidia.com/gpu", "google.com/tpu", "aws.amazon.com/neuron"

TRAINC_PREFIX = "trainc.dev/"  # annotations under it on a job choose between ways to compile it

JOB_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")  # of the pods of any Job
JOB_LABELS = ("controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name")
POD_INDEX = "batch.kubernetes.io/job-completion-index"  # label and annotation of the pods of an indexed Job
REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX_LABEL = "jobset.sigs.k8s.io/job-index"
JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
JOBSET_CONTROLLER = "jobset.sigs.k8s.io/jobset-controller"  # `managedBy` of a JobSet that its own controller runs
MULTIKUEUE = "kueue.x-k8s.io/multikueue"  # `managedBy` of what Kueue sends to another cluster
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # an annotation of `kubectl apply`

COSCHEDULING_LABEL = "scheduling.x-k8s.io/pod-group"
# The prefix is historical: this annotation belongs to Volcano, not to Kubernetes' own groups.
VOLCANO_GROUP = "scheduling.k8s.io/group-name"
VOLCANO_POD_GROUP = "scheduling.volcano.sh/v1beta1/PodGroup"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"  # of JobSet: each Job has a domain of its own
VOLCANO_TASK = "volcano.sh/task-spec"
NATIVE_FIELD = "schedulingGroup"
API_GROUPS = {"scheduling.x-k8s.io": "coscheduling", "scheduling.volcano.sh": "volcano", "scheduling.k8s.io": "native"}
