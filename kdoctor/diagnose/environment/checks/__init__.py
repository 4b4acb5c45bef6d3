"""What is looked at, one room a question. Each check reads an environment and changes nothing."""
