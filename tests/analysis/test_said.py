from kdoctor.analysis.triggers import Said


def test_each_is_asked_once_for_all_files():
    asked = []

    def is_short(name):
        asked.append(name)
        return len(name) < 2

    said = Said(is_short)
    assert said.among({"a", "bb"}) == {"a"}
    assert said.among({"a", "bb", "c"}) == {"a", "c"}
    assert said.of_any({"a", "dd"})
    assert not said.of_any({"bb"})
    assert sorted(asked) == ["a", "bb", "c"]
    assert not said.of_any(set())


def test_what_is_known_does_not_grow_without_end(monkeypatch):
    monkeypatch.setattr("kdoctor.analysis.triggers._CACHE_SIZE", 10)
    said = Said(lambda number: number % 2)
    for start in range(0, 100, 5):
        found = said.among(set(range(start, start + 5)))
        assert found == {each for each in range(start, start + 5) if each % 2}
    assert len(said._yes) + len(said._no) <= 15
