"""What is known of the project's other files, and of files before they are parsed."""
