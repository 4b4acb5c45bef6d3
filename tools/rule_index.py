"""Write ``kdoctor/rules/index.json``: what a scan asks of the rules before it imports one.

python tools/rule_index.py
"""

from __future__ import annotations

import json

from kdoctor.rules.index import INDEX, as_data, places
from kdoctor.rules.loading import load_rule


def index_text() -> str:
    """Return the index as it has to be, one rule a line."""
    lines = [
        f"{json.dumps(place)}: {json.dumps(as_data(load_rule(place)))}"
        for place in sorted(places())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    INDEX.write_text(index_text(), "utf-8")
