"""Write docs/proofs.md anew from the proof record (then read the diff)."""

from __future__ import annotations

from pathlib import Path

from kdoctor.analysis.facts import proof_record
from kdoctor.report.proofs_page import proofs_page
from kdoctor.rules import all_rules

PAGE = Path(__file__).resolve().parent.parent / "docs" / "proofs.md"


def main() -> None:
    """Write the page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(proofs_page(all_rules(), proof_record()), "utf-8")


if __name__ == "__main__":
    main()
