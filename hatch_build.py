"""Metadata that depends on where a release is published: its URLs, and links in its description.

A release names the repository and the documentation in the environment, as
``.github/workflows/release.yml`` does. Both then stand in the metadata, where kdoctor itself reads
them (``helpUri`` of SARIF, links in a terminal), and the relative links of README.md become
absolute. Any other build names neither, and its description keeps the text of such links without
the link: it leads nowhere rather than to a page that is not there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "KERAS_DOCTOR_REPOSITORY"  # https://github.com/OWNER/NAME
DOCUMENTATION = "KERAS_DOCTOR_DOCUMENTATION"  # https://OWNER.github.io/NAME
RELATIVE_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?!https?://|#)(?P<path>[^)]+)\)")


class MetadataHook(MetadataHookInterface):
    """Give ``readme`` and ``urls``, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write both into the metadata."""
        repository = os.environ.get(REPOSITORY, "").rstrip("/")
        documentation = os.environ.get(DOCUMENTATION, "").rstrip("/")
        readme = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": _published(readme, repository, f"v{metadata['version']}"),
        }
        metadata["urls"] = {}
        if documentation:
            metadata["urls"] |= {"Documentation": f"{documentation}/"}
        if repository:
            metadata["urls"] |= {
                "Homepage": repository,
                "Repository": repository,
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
            }


def _published(readme: str, repository: str, tag: str) -> str:
    """Return the description with no relative link left, and with the repository's real address."""
    if not repository:
        return RELATIVE_LINK.sub(r"\g<text>", readme)
    linked = RELATIVE_LINK.sub(rf"[\g<text>]({repository}/blob/{tag}/\g<path>)", readme)
    return linked.replace("https://github.com/<owner>/kdoctor", repository)
