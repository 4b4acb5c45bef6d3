"""Facts about the project's other modules, and about files before they are parsed."""
