"""Suppression comments: apply, insert, report unused ones; handled errors."""
