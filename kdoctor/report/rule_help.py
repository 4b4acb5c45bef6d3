"""A rule's documentation, for programs that show it next to a finding."""

from __future__ import annotations

from kdoctor.rules import Example, Rule

_MAX_EXAMPLES = 3


def section(rule: Rule, heading: str) -> str:
    """Return the first paragraph below a heading of a rule's documentation, as one line."""
    below = rule.docs.partition(f"## {heading}\n")[2]
    return " ".join(below.partition("\n\n")[0].split())


def markdown(rule: Rule) -> str:
    """Return the documentation of a rule with its first examples, as Markdown."""
    shown = [_example(example) for example in rule.invalid[:_MAX_EXAMPLES]]
    return "\n\n".join([rule.docs.rstrip(), *(["## Examples"] if shown else []), *shown])


def _example(example: Example) -> str:
    parts = [*filter(None, [example.note]), _fence(example.before)]
    if example.raises:
        parts.append(f"raises `{example.error}`.")
    if example.after is not None:
        parts += ["Write instead:", _fence(example.after)]
    return "\n\n".join(parts)


def _fence(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```"
