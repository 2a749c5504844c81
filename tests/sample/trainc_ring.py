"""Ring: every process knows the first one, its own place, and how many there are."""

from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, on
from trainc.model.plan import Plan
from trainc.model.vocabulary import Launcher, Vocabulary

VOCABULARY = Vocabulary(
    reserved=("RING_SIZE", "RING_INDEX", "RING_FIRST"),
    addresses={"RING_FIRST": "", "RING_HOST": ""},
    ranks=("RING_INDEX",),
    sizes=("RING_SIZE",),
    launchers=(
        Launcher(
            "ringrun",
            processes=("slots", "RING_SLOTS"),
            addresses={"first": ""},
            sets=("RING_SLOT",),
            passes_on={"RING_HOST": "RING_FIRST"},
        ),
    ),
    ports=(7000,),
)


def lower(plan: Plan) -> Contribution:
    """The three variables that the ring is made of."""
    trainer = plan.trainer
    if trainer is None:
        return Contribution()
    return on(
        trainer,
        env={"RING_SIZE": trainer.count, "RING_INDEX": COMPLETION_INDEX, "RING_FIRST": plan.host(rank=0)},
        ports=VOCABULARY.ports,
    )


FRAMEWORK = Framework("ring", lower, vocabulary=VOCABULARY)
