"""Which public name exists in which release of Keras, under which import root.

All of it is data read from released wheels (``python -m tools.api_data``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_exports import deferred

if TYPE_CHECKING:
    from kdoctor.keras_api.instances import (
        ever_members,
        member_error,
        member_lookup,
        member_until,
        members_once,
    )
    from kdoctor.keras_api.keras_oracle import KINDS, oracle
    from kdoctor.keras_api.names import Lookup, error_text, error_type, lookup, methods, signature
    from kdoctor.keras_api.presence import Presence
    from kdoctor.keras_api.signatures import Parameter, Signature
    from kdoctor.keras_api.surface import known_releases, split_root
    from kdoctor.keras_api.tables import ClassFamily, EntryKind
    from kdoctor.keras_api.targets import (
        newest_target,
        resolve_target,
        resolve_targets,
        with_tf_keras,
    )

# Imported when first asked for: to say what a target is takes none of what is in the tables.
_HOMES = {
    "KINDS": "keras_oracle",
    "ClassFamily": "tables",
    "EntryKind": "tables",
    "Lookup": "names",
    "Parameter": "signatures",
    "Presence": "presence",
    "Signature": "signatures",
    "error_text": "names",
    "error_type": "names",
    "ever_members": "instances",
    "oracle": "keras_oracle",
    "lookup": "names",
    "member_error": "instances",
    "member_lookup": "instances",
    "member_until": "instances",
    "members_once": "instances",
    "methods": "names",
    "newest_target": "targets",
    "known_releases": "surface",
    "resolve_target": "targets",
    "resolve_targets": "targets",
    "with_tf_keras": "targets",
    "signature": "names",
    "split_root": "surface",
}

__all__ = [
    "KINDS",
    "ClassFamily",
    "EntryKind",
    "Lookup",
    "Parameter",
    "Presence",
    "Signature",
    "error_text",
    "error_type",
    "ever_members",
    "known_releases",
    "lookup",
    "member_error",
    "member_lookup",
    "member_until",
    "members_once",
    "methods",
    "newest_target",
    "oracle",
    "resolve_target",
    "resolve_targets",
    "signature",
    "split_root",
    "with_tf_keras",
]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
