"""Hooks of MkDocs: add the generated pages, and name files that no page holds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# [proofs.json](../kdoctor/rules/proofs.json): in the repository, on no page.
OUTSIDE = re.compile(r"\[(?P<text>[^\]]+)\]\((?:\.\./)+(?P<path>[^)]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are generated, and list them in the navigation."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - installed where pages are built

    sys.path.insert(0, str(ROOT))
    from tools.site.pages import all_pages, with_generated_pages  # noqa: PLC0415

    for path, text in all_pages().items():
        files.append(File.generated(config, path, content=text))
    config.nav = with_generated_pages(config.nav)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Name a file of the repository instead of linking to it: the site does not hold it."""
    docs = ROOT / "docs"
    here = docs / Path(page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        target = (here / link[0].rpartition("(")[2].rstrip(")").partition("#")[0]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        return f"{link['text']} (`{target.relative_to(ROOT)}`)"

    return OUTSIDE.sub(named, markdown)
