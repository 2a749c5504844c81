"""Plain: nothing beyond the runtime's template and the job's overrides."""

from trainc.model.patches import GPU, NEURON, TPU, Contribution, Framework, Start
from trainc.model.plan import Plan

START = Start(
    "plain-distributed", ("python", "train.py"), "Every node runs this command once.", machines=(GPU, TPU, NEURON)
)


def lower(_plan: Plan) -> Contribution:
    """Nothing: node counts and the job's own settings are laid on for every framework alike."""
    return Contribution()


FRAMEWORK = Framework("plain", lower, computes=(), starts={"plain": START})
