"""Whether a name stands where its failure does no harm."""


def guarded(parse, source, name, **options):
    module = parse(source, **options)
    found = [ref for ref in module.references if ref.name == name]
    assert found, [ref.name for ref in module.references]
    return module.is_guarded(found[0].node)
