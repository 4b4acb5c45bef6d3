"""`layer.u` of `SpectralNormalization`: Keras has its members under other names than Addons."""

from kdoctor.analysis.queries import Instance, Read, reads
from kdoctor.model import Edit, Finding, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

# `w_shape` was a list; `kernel_shape` is a tuple, or a `TensorShape` with TensorFlow.
WRITTEN = {"u": ("", "vector_u"), "w": ("", "kernel"), "w_shape": ("[*", "kernel_shape]")}
NORMALIZED = Instance(Kind.LAYER, cls="SpectralNormalization")


@rule("KD236", severity=Severity.ERROR, since="3.0", look_for=reads(*WRITTEN, on=NORMALIZED))
def check(read: Read) -> Finding:
    """Report each such read."""
    before, member = WRITTEN[read.member]
    start = read.module.span(read.node).start
    edits = [Edit(read.module.span(read.node.attr), (member,))]
    if before:
        edits.append(Edit(Span(start, start), (before,)))
    advice = f"Write `{before}layer.{member}`"
    return read.finding(
        f"only the layer of TensorFlow Addons has `{read.member}`: AttributeError: "
        f"'SpectralNormalization' object has no attribute '{read.member}'",
        help=f"{advice}.",
        fix=read.fix(
            advice,
            *edits,
            unsafe_because="code that changes the list would change a copy" if before else "",
        ),
    )
