"""Reports of results for people and programs, in every output format."""
