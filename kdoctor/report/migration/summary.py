"""The overview in a few lines, for the terminal."""

from __future__ import annotations

from kdoctor.progress import Overview
from kdoctor.report.output import Page
from kdoctor.report.summary import count


def write_summary(overview: Overview, page: Page) -> None:
    """Write how far the migration is."""
    left, files = overview.left, overview.files
    done = sum(each.is_done for each in files)
    page.line(f"Done: {done} of {count(len(files), 'file')} with Keras.")
    if left.total:
        page.line(
            f"Left: {count(left.total, 'finding')} ({left.safe} safe, {left.unsafe} unsafe, "
            f"{left.by_hand} by hand)."
        )
    stopped = sum(len(stop.ways) for stop in overview.stops)
    if stopped:
        page.line(f"Fail on import: {count(stopped, 'file')}.")
    if overview.portability.percent is not None:
        page.line(f"Without TensorFlow imports: {overview.portability.percent} %.")
