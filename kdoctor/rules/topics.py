"""Topics: what several rules are about to a user, whose model sees one phenomenon, not codes.

``kdoctor scan --select freezing`` asks all rules of a topic, whatever their families. Nothing is
imported for it: this table is all that there is to a topic, and a rule module does not name its
own. A rule may be of two topics, and need not be of any.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec import Struct


class Topic(Struct, frozen=True):
    """What several rules have in common. ``name`` is what ``--select`` takes."""

    name: str
    title: str
    sentence: str
    codes: tuple[str, ...]


TOPICS = (
    Topic(
        "data-containers",
        "Data containers",
        "What `fit`, `evaluate` and `predict` take as data: lists, tuples, dicts, generators and "
        "frames that Keras 2 took and Keras 3 refuses or reads in another way.",
        (
            "KD230", "KD318", "KD321", "KD322", "KD323", "KD328", "KD409", "KD410", "KD418",
            "KD451", "KD455", "KD459", "KD461", "KD462", "KD478", "KD479", "KD489", "KD528",
        ),
    ),
    Topic(
        "freezing",
        "Freezing",
        "What `trainable` reaches, and when: parts that are trained although they were to be "
        "frozen, or the other way round.",
        ("KD233", "KD403", "KD437", "KD447", "KD467"),
    ),
    Topic(
        "late-weights",
        "Weights created late",
        "Weights that do not exist yet when they are to be trained, loaded or counted.",
        ("KD302", "KD435", "KD444", "KD464", "KD466", "KD471", "KD473"),
    ),
    Topic(
        "learning-rate",
        "Learning rate",
        "How the learning rate is named, set, scheduled and logged.",
        (
            "KD206", "KD309", "KD312", "KD401", "KD406", "KD417", "KD441", "KD468", "KD516",
        ),
    ),
    Topic(
        "log-names",
        "Names in the logs",
        "What metrics and losses are called in `history.history`, in callbacks and in results.",
        (
            "KD215", "KD216", "KD219", "KD408", "KD411", "KD426", "KD441", "KD443", "KD453",
            "KD460", "KD480",
        ),
    ),
    Topic(
        "losses",
        "Losses and metrics",
        "What a loss or a metric is given, what it returns, and where its value is kept.",
        (
            "KD213", "KD220", "KD320", "KD448", "KD452", "KD453", "KD457", "KD458", "KD469",
            "KD470", "KD478", "KD502", "KD517", "KD521",
        ),
    ),
    Topic(
        "masks",
        "Masks",
        "How the mask of an input goes through layers that take several of them.",
        ("KD425", "KD434"),
    ),
    Topic(
        "names-of-parts",
        "Names of layers, weights and inputs",
        "What Keras calls the parts of a model, and code that finds them by name.",
        ("KD202", "KD234", "KD412", "KD413", "KD416", "KD475", "KD494"),
    ),
    Topic(
        "optimizers",
        "Optimizers",
        "How an optimizer is made, shared and called, and how one of your own is written.",
        (
            "KD204", "KD235", "KD312", "KD314", "KD327", "KD407", "KD446", "KD488", "KD501",
            "KD507", "KD511", "KD512", "KD516", "KD522", "KD524", "KD527",
        ),
    ),
    Topic(
        "positions",
        "Arguments by position",
        "Arguments by position that go to another parameter than before, or to none.",
        ("KD212", "KD304", "KD315", "KD326", "KD414"),
    ),
    Topic(
        "random-numbers",
        "Random numbers",
        "What a seed repeats, what it leaves open, how weights are drawn, and how often "
        "dropout draws.",
        ("KD419", "KD463", "KD472", "KD495", "KD520"),
    ),
    Topic(
        "recurrent-layers",
        "Recurrent layers and TimeDistributed",
        "How layers that go along the time are called, and what they do with their states and "
        "steps.",
        (
            "KD208", "KD226", "KD231", "KD232", "KD248", "KD324", "KD424", "KD445", "KD454",
            "KD466", "KD472",
        ),
    ),
    Topic(
        "saved-files",
        "Saved files",
        "How models and weights are written to files and read again.",
        (
            "KD221", "KD471", "KD601", "KD602", "KD603", "KD604", "KD605", "KD606", "KD607",
            "KD608", "KD609", "KD612", "KD613", "KD614", "KD615", "KD618", "KD619", "KD620",
            "KD621", "KD622",
        ),
    ),
    Topic(
        "shapes",
        "Shapes of inputs and outputs",
        "How a shape is declared, read and compared, and what a layer says of its own.",
        (
            "KD207", "KD211", "KD225", "KD231", "KD242", "KD243", "KD301", "KD325", "KD330",
            "KD415", "KD431", "KD456",
        ),
    ),
    Topic(
        "symbolic-tensors",
        "Symbolic tensors",
        "Code that runs while a model is built or traced, when its tensors have no values yet.",
        (
            "KD203", "KD211", "KD442", "KD474", "KD503", "KD504", "KD508", "KD513", "KD517",
            "KD519", "KD523", "KD525",
        ),
    ),
    Topic(
        "tensorflow-1",
        "TensorFlow 1",
        "Graphs, sessions, and names and arguments that only TensorFlow 1 had.",
        ("KD103", "KD505", "KD506", "KD509"),
    ),
    Topic(
        "training-argument",
        "The argument `training`",
        "How a layer learns whether it is trained.",
        ("KD315", "KD319", "KD423", "KD436", "KD513"),
    ),
    Topic(
        "two-keras",
        "Two Keras side by side",
        "Keras 3 and a Keras 2 in one program, and packages that were written for the older one.",
        ("KD701", "KD702", "KD703", "KD704", "KD705", "KD706", "KD710"),
    ),
    Topic(
        "untracked-weights",
        "Weights that are not tracked",
        "Variables of a layer or a model that Keras does not train, does not save, or lists in "
        "another order.",
        ("KD402", "KD430", "KD449", "KD497", "KD609"),
    ),
)  # fmt: skip


@cache
def topics_by_name() -> dict[str, Topic]:
    """Return each topic by its name."""
    return {topic.name: topic for topic in TOPICS}


def topic_named(name: str) -> Topic | None:
    """Return the topic of a name, whatever its case, None where there is none.

    >>> topic_named("Freezing").title
    'Freezing'
    """
    return topics_by_name().get(name.lower())


def topics_of(code: str) -> tuple[Topic, ...]:
    """Return the topics that a rule is of, by its code.

    >>> [topic.name for topic in topics_of("KD441")]
    ['learning-rate', 'log-names']
    """
    return _by_code().get(code, ())


def others_of(topic: Topic, code: str) -> Iterator[str]:
    """Yield the codes of a topic beside this one."""
    return (each for each in topic.codes if each != code)


@cache
def _by_code() -> dict[str, tuple[Topic, ...]]:
    found: dict[str, tuple[Topic, ...]] = {}
    for topic in TOPICS:
        for code in topic.codes:
            found[code] = (*found.get(code, ()), topic)
    return found
