"""Explain unexpected arguments, by the signatures of each release."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass
from typing import Final

from packaging.version import Version

from kdoctor.diagnose import remedies
from kdoctor.diagnose.by_rules import RuleAnswer, Wanted, ask
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.snippets import MODULES, SnippetName, home_of
from kdoctor.keras_api import Presence, lookup, newest_target, resolve_target, signature
from kdoctor.keras_api.history import member_history, name_history
from kdoctor.keras_api.surface import surface_on
from kdoctor.target import Target

_CALL: Final = r"(?P<call>[A-Za-z_][\w.]*)"
# What Python and the releases of Keras say of an argument that nobody takes.
_MESSAGES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_CALL}\(\) got an unexpected keyword argument '(?P<name>\w+)'",
        rf"^{_CALL}\(\) got multiple values for (?:keyword )?argument '(?P<name>\w+)'",
        r"Unrecognized keyword arguments? passed to (?P<call>\w+): \{'(?P<name>\w+)'",
        r"^\(?['\"]Keyword argument not understood:['\"], ['\"](?P<name>\w+)['\"]",
        r"^Argument\(s\) not recognized: \{'(?P<name>\w+)'",
        r"^Unexpected keyword argument passed to optimizer: (?P<name>\w+)",
        r"^Unrecognized keyword arguments?: \[?'(?P<name>\w+)'",
        r"^`?(?P<name>\w+)`? is not a valid argument",
    )
)
_LAST_KERAS_2: Final = "keras==2.15.0"
_ARGUMENTS: Final = re.compile(r"\{[^\n]*\}")
# Python shows the first line of a call alone: `logger = keras.callbacks.ProgbarLogger(`.
_OPEN_CALL: Final = re.compile(r"([A-Za-z_]\w*)\($")
# Classes that are published under another name than their own.
_PRIVATE_NAMES: Final = {"BaseOptimizer": "Optimizer"}
# What a saved model holds of: its layers and what they are given, and what it was compiled with.
_BUILT: Final = ("layers", "models", "initializers", "regularizers", "constraints")
_COMPILED: Final = ("optimizers", "optimizers.schedules", "losses", "metrics")
_TRAINERS: Final = re.compile(r"^(?:\w+Trainer|Trainer|Model|Functional|Sequential)$")


@dataclass(frozen=True, slots=True)
class _Argument:
    """A refused argument, and the callable: a public name, or a member of a class."""

    name: str
    call: str = ""
    owner: str = ""  # the class of a method: ``Model``
    public: str = ""  # ``keras.layers.Dense``


def explain_keyword(case: Case) -> Diagnosis | None:
    """Explain why an argument is refused; None if the error is about something else."""
    argument = _argument(case)
    if argument is None:
        return None
    frame = case.blamed
    answer = _ask_rules(argument, case, case.target)
    last = _last_release(argument)
    refused = _is_refused(argument, case)
    if not answer.findings and not refused:
        return _of_newer(argument, case)
    is_in_file = _is_in_file(case) or _is_a_default(argument, case)
    if refused and is_in_file and (_is_of(argument, _BUILT) or _is_of(argument, _COMPILED)):
        return _of_file(argument, last, case)
    if not answer.findings:  # the rules speak of Keras 3
        answer = _ask_rules(argument, case, newest_target())
    package = case.package
    steps = list(remedies.for_a_package(package, None) if package else remedies.of_answer(answer))
    if answer.example and not package:
        steps.append(Step(StepKind.CODE, answer.example))
    if not steps:
        steps = [Step(StepKind.ADVICE, _advice(argument, case.target))]
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=_meaning(argument, last, case),
        error=case.error,
        place=frame,
        evidence=tuple(_evidence(argument, last, refused=refused, case=case)),
        steps=tuple(steps),
        rule=answer.rule or "KD303",
        only_if="" if _is_surely(argument, case) else f"`{argument.call}` is that of Keras",
        package=package,
        target=case.target,
    )


def _advice(argument: _Argument, target: Target) -> str:
    found = signature(argument.public or f"keras.{argument.owner}.{argument.call}", target)
    names = [each.name for each in found.parameters] if found is not None else []
    alike = difflib.get_close_matches(argument.name, names, n=2)
    if alike:
        return f"Did you mean {' or '.join(f'`{name}=`' for name in alike)}?"
    return f"Remove `{argument.name}=`, or see what replaced it."


def _is_surely(argument: _Argument, case: Case) -> bool:
    """Say whether the callable is certainly part of Keras."""
    if not argument.public or argument.public.rpartition(".")[2][:1].isupper():
        return True
    line = case.blamed.source if case.blamed is not None else ""
    return case.is_inside_keras or _names_keras(line, argument.call)


def _ask_rules(argument: _Argument, case: Case, target: Target) -> RuleAnswer:
    """Apply the rules to the line; a method of Model is called on a model."""
    bindings = [SnippetName(argument.call, "{name} = keras.Sequential()"), None]
    answer = RuleAnswer()
    for binding in bindings if argument.owner == "Model" else [None]:
        wanted = Wanted(argument.name, binding=binding, statement=_statement(argument, case))
        answer = ask(case.blamed, wanted, target, case.read)
        if answer.findings:
            break
    return answer


def _of_file(argument: _Argument, last: str, case: Case) -> Diagnosis:
    """Explain an argument in the configuration of a saved model: no line of code has it."""
    without = _compiled_anew() if _is_of(argument, _COMPILED) else _left_out(argument, case)
    return Diagnosis(
        fault=Fault.YOUR_CODE,
        meaning=f"{_meaning(argument, last, case)} It is stored in the saved model, which another "
        "release of Keras wrote.",
        error=case.error,
        place=case.blamed,
        evidence=tuple(_evidence(argument, last, refused=True, case=case)),
        steps=(
            Step(
                StepKind.CODE,
                "model = build_model()\nmodel.load_weights(path)",
                "if you have the code of the model: build it again and load only the weights",
            ),
            without,
            Step(
                StepKind.COMMAND,
                "pip install tf_keras",
                "or load a Keras 2 file with tf_keras.models.load_model(path), and save it again; "
                f"{remedies.OF_ONE_MINOR}",
            ),
        ),
        rule="KD303",
        only_if="" if _is_in_file(case) else "it happens while a saved model is loaded",
        target=case.target,
    )


def _is_of(argument: _Argument, modules: tuple[str, ...]) -> bool:
    """Say whether a class is of one of these modules of Keras."""
    leaf = argument.public.rpartition(".")[2]
    newest = newest_target()
    names = (f"keras.{module}.{leaf}" for module in modules)
    return any(lookup(name, newest).presence is Presence.EXISTS for name in names)


def _compiled_anew() -> Step:
    return Step(
        StepKind.CODE,
        "model = keras.models.load_model(path, compile=False)\n"
        "model.compile(optimizer='adam', loss='mse')",
        "or skip its compilation, and compile it again, with the optimizer, loss and metrics that "
        "it had",
    )


def _left_out(argument: _Argument, case: Case) -> Step:
    # What custom_objects has for a name of Keras' own counts in HDF5 alone, not in .keras, and not
    # inside `Bidirectional` (run). And the file may have other classes that lost the same.
    names = _refused_names(argument, case)
    popped = "".join(f"        kwargs.pop({name!r}, None)\n" for name in names)
    shown = " and ".join(f"`{name}`" for name in names)
    classes = ", ".join(_losers(argument))
    return Step(
        StepKind.CODE,
        "def ignoring(made):\n    def made_without(self, *args, **kwargs):\n"
        f"{popped}        made(self, *args, **kwargs)\n    return made_without\n\n"
        f"for each in ({classes},):\n    each.__init__ = ignoring(each.__init__)\n"
        "model = keras.models.load_model(path, compile=False)",
        f"or ignore {shown} while loading, also inside other layers: correct if it has its default",
    )


def _losers(argument: _Argument) -> list[str]:
    """Return the class, and the others of its module that lost the same argument with Keras 3."""
    newest, old = newest_target(), resolve_target(_LAST_KERAS_2, "the last Keras 2")
    names = surface_on("keras", newest)
    module = argument.public.rpartition(".")[0]
    others = [] if names is None else names.children(module.removeprefix("keras."))
    found = [argument.public]
    for leaf in others:
        public = f"{module}.{leaf}"
        before, now = signature(public, old), signature(public, newest)
        if before is None or now is None or public in found:
            continue
        had = any(each.name == argument.name for each in before.parameters)
        has = any(each.name == argument.name for each in now.parameters)
        if had and not has:
            found.append(public)
    return found


def _refused_names(argument: _Argument, case: Case) -> list[str]:
    """Return all refused names in the message, the argument's own first."""
    return list(dict.fromkeys([argument.name, *_reported_arguments(case)]))


def _is_a_default(argument: _Argument, case: Case) -> bool:
    """Say whether the value is the former default of the argument, and no line is known.

    Nobody writes such a value out; a saved configuration always does.
    """
    passed = _reported_arguments(case)
    if case.has_frames or argument.name not in passed:
        return False
    shown = re.escape(f"{argument.name}={passed[argument.name]!r}")
    return any(re.search(rf"\b{shown}(?!\w)", text) for _, _, text in _spans(argument))


def _reported_arguments(case: Case) -> dict[str, object]:
    """Return the arguments and values that a message shows: ``passed to LSTM: {'units': 3}``."""
    _, _, shown = case.error.message.rpartition("Unrecognized keyword arguments passed to ")
    found = _ARGUMENTS.search(shown)
    try:
        passed = ast.literal_eval(found.group()) if found else {}
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    return {str(name): value for name, value in passed.items()} if isinstance(passed, dict) else {}


def _is_in_file(case: Case) -> bool:
    """Say whether the argument comes from a saved model that Keras was loading."""
    paths = [frame.path.replace("\\", "/") for frame in case.error.frames]
    loads = any(re.search(r"/keras/src/(?:legacy/)?saving/", path) for path in paths)
    return loads or "when deserializing class" in case.error.message


def _of_newer(argument: _Argument, case: Case) -> Diagnosis | None:
    """Explain an argument that the target takes, and an older release did not."""
    first = _first_release(argument)
    if case.is_stated or not first:
        return None
    return Diagnosis(
        fault=Fault.INSTALLATION,
        meaning=f"`{argument.public}` takes `{argument.name}=` from keras {first} on: the release "
        "that ran is older than the code, or than the Keras that wrote the saved model.",
        error=case.error,
        place=case.blamed,
        evidence=(f"the signatures of {argument.public} in each release",),
        steps=(
            remedies.newer_pair(f"keras {first} or later"),
            Step(
                StepKind.COMMAND,
                'python -c "import keras; print(keras.__version__)"',
                "shows which release runs",
            ),
        ),
        target=case.target,
    )


def _argument(case: Case) -> _Argument | None:
    for pattern in _MESSAGES:
        matched = pattern.search(case.error.message)
        if matched is None:
            continue
        found = matched.groupdict()
        call, name = found.get("call") or "", found["name"]
        owner, _, leaf = call.rpartition(".")
        if leaf == "__init__" or not call:
            return _of_class(owner.rpartition(".")[2], name, case)
        if _TRAINERS.match(owner) or (not owner and leaf in {"fit", "evaluate", "predict"}):
            return _Argument(name, leaf, "Model", "")
        if owner:
            cls = owner.rpartition(".")[2]
            return _Argument(name, leaf, _PRIVATE_NAMES.get(cls, cls), "")
        return _of_class(leaf, name, case) or _of_function(leaf, name, case)
    return None


def _of_function(function: str, name: str, case: Case) -> _Argument | None:
    """Return the argument of a function of Keras that the line names, or that once had it."""
    line = case.blamed.source if case.blamed is not None else ""
    for module in MODULES:
        public = f"keras.{module}.{function}"
        if lookup(public, case.target).presence is not Presence.EXISTS:
            continue
        argument = _Argument(name, function, "", public)
        if _names_keras(line, function) or _last_release(argument):
            return argument
    return None


def _names_keras(line: str, function: str) -> bool:
    return bool(re.search(rf"\bkeras\.(?:\w+\.)*{function}\(", line))


def _of_base(cls: str, name: str, case: Case) -> _Argument | None:
    """Return the argument that a user's class passes on to its base class."""
    frame = case.raised_in
    is_init = case.own is not None and case.own.function.endswith("__init__")
    if frame is None or not is_init or _is_in_file(case):
        return None
    is_layers = frame.path.replace("\\", "/").endswith("/keras/src/layers/layer.py")
    return _Argument(name, cls, "", "keras.layers.Layer") if is_layers else None


def _of_class(cls: str, name: str, case: Case) -> _Argument | None:
    """Return the argument and its callable, from the message or else from the line."""
    frame = case.blamed
    line = frame.source if frame is not None else ""
    named = (
        [cls] if cls else re.findall(rf"([A-Za-z_]\w*)\((?:[^()]|\([^()]*\))*?\b{name}\s*=", line)
    )
    named += _OPEN_CALL.findall(line)
    for each in named:
        module = home_of(each, case.target)
        if module is not None:
            return _Argument(name, each, "", f"keras{module}.{each}")
    return _of_base(cls, name, case) or (_Argument(name, cls) if case.is_inside_keras else None)


def _statement(argument: _Argument, case: Case) -> str:
    """Return a line with the argument: with its value, where the message tells it."""
    passed = _reported_arguments(case)
    value = f"{argument.name}={passed[argument.name]!r}" if argument.name in passed else ""
    value = value or f"{argument.name}={argument.name}"  # whatever the line has
    if argument.owner == "Model":
        return f"import keras\nx = keras.Sequential()\nx.{argument.call}({value})\n"
    return f"import keras\n{argument.public}({value})\n" if argument.public else ""


def _is_refused(argument: _Argument, case: Case) -> bool:
    """Say whether the signature on the target has no such argument."""
    name = argument.public or f"keras.{argument.owner}.{argument.call}"
    found = signature(name, case.target)
    return found is not None and found.parameter(argument.name) is None


def _last_release(argument: _Argument) -> str:
    """Return the last release whose signature had the argument."""
    had = (last for _, last, text in reversed(_spans(argument)) if _has(text, argument.name))
    return next(had, "")


def _first_release(argument: _Argument) -> str:
    """Return the release that brought an argument, or brought it back, which is there to stay.

    "" for one that no release lacked.
    """
    spans = _spans(argument)
    lacking = [at for at, (_, _, text) in enumerate(spans) if not _has(text, argument.name)]
    since = lacking[-1] + 1 if lacking else len(spans)
    return spans[since][0] if since < len(spans) else ""


def _spans(argument: _Argument) -> list[tuple[str, str, str]]:
    """Return the first and the last release with each signature, the oldest first, and its text."""
    if argument.public:
        history = name_history("keras", argument.public.removeprefix("keras."))
    elif argument.owner:
        history = member_history("keras", argument.owner, argument.call)
    else:
        return []
    spans = history.signatures if history is not None else ()
    return [(span.first, span.last, span.text) for span in spans]


def _has(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b(?=\s*[=,]|$)", text) is not None


def _meaning(argument: _Argument, last: str, case: Case) -> str:
    shown = argument.public or (f"{argument.owner}.{argument.call}" if argument.owner else "")
    shown = f"`{shown or argument.call or 'the callable'}`"
    text = f"{shown} of {case.target} does not take `{argument.name}=`."
    if _is_back(last, case):
        text += f" Releases from keras {_first_release(argument)} on take it."
    elif last:
        text += f" The last release that had it is keras {last}."
    return text


def _is_back(last: str, case: Case) -> bool:
    """Say whether a release after that which ran takes the argument."""
    ran = case.target.keras_version or case.target.tf_keras_version
    return bool(last) and Version(last) > Version(ran)


def _evidence(argument: _Argument, last: str, *, refused: bool, case: Case) -> list[str]:
    found = []
    name = argument.public or f"keras.{argument.owner}.{argument.call}"
    known = signature(name, case.target)
    if refused and known is not None:
        found.append(f"the signature of {name} in {case.target}: ({known.text})")
    if last and not _is_back(last, case):
        found.append(f"keras {last} still had `{argument.name}`")
    found.append(f"assuming {case.target}: {case.target.source}")
    if lookup(name, case.target).root is None:
        found.pop()
    return found
