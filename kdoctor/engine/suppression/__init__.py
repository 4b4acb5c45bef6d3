"""Suppression comments: apply them, insert them, report the unused."""
