"""Rules of one's own: find their files, import them from there, and hold them to what a rule is."""
