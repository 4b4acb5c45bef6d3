"""What tests ask of a list of diagnostics."""


def codes(diagnostics):
    return [each.code for each in diagnostics]


def starts(diagnostics):
    return [(each.range.start.line, each.range.start.character) for each in diagnostics]
