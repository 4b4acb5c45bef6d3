"""Which public name exists in which release of Keras, under which import root.

All of it is data read from released wheels (``python -m tools.api_data``).
"""

from __future__ import annotations

from kdoctor.keras_api.instances import ever_members as ever_members
from kdoctor.keras_api.instances import member_error as member_error
from kdoctor.keras_api.instances import member_lookup as member_lookup
from kdoctor.keras_api.instances import member_until as member_until
from kdoctor.keras_api.instances import members_once as members_once
from kdoctor.keras_api.knowledge import knowledge as knowledge
from kdoctor.keras_api.lookup import Lookup as Lookup
from kdoctor.keras_api.lookup import error_text as error_text
from kdoctor.keras_api.lookup import error_type as error_type
from kdoctor.keras_api.lookup import lookup as lookup
from kdoctor.keras_api.lookup import signature as signature
from kdoctor.keras_api.presence import Presence as Presence
from kdoctor.keras_api.signatures import Parameter as Parameter
from kdoctor.keras_api.signatures import Signature as Signature
from kdoctor.keras_api.surface import releases as known_releases
from kdoctor.keras_api.surface import split_root as split_root
from kdoctor.keras_api.tables import ClassFamily as ClassFamily
from kdoctor.keras_api.tables import EntryKind as EntryKind
from kdoctor.keras_api.targets import newest_target as newest_target
from kdoctor.keras_api.targets import resolve_target as resolve_target

__all__ = [
    "ClassFamily",
    "EntryKind",
    "Lookup",
    "Parameter",
    "Presence",
    "Signature",
    "error_text",
    "error_type",
    "ever_members",
    "knowledge",
    "known_releases",
    "lookup",
    "member_error",
    "member_lookup",
    "member_until",
    "members_once",
    "newest_target",
    "resolve_target",
    "signature",
    "split_root",
]
