"""The shipped proof record matches the shipped rules."""

from __future__ import annotations

import pytest

from kdoctor.verify import proof_jobs, record


@pytest.fixture(scope="module")
def ids():
    rows = [row.id for row in proof_jobs.rewrites_of_rules()]
    return [*rows, *(job.id for job in proof_jobs.example_jobs())]


def test_every_rewrite_and_example_has_a_record(ids):
    assert record.unrecorded(ids, record.read()) == [], "run `make prove`"


def test_the_record_has_no_entries_without_a_rewrite_or_example(ids):
    assert record.stale(ids, record.read()) == [], "run `make prove`"


def test_an_entry_that_does_not_hold_has_a_failure():
    for key, entry in record.read().items():
        if key != record.ABOUT and not entry["holds"]:
            assert entry["failures"], key


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_what_the_examples_of_kd8_are_fixed_to_runs_on_each_backend(backend):
    jobs = proof_jobs.example_jobs(backend=backend)
    assert {job.backend for job in jobs} == {backend}
    assert {job.rule[:3] for job in jobs} == {"KD8"}
    assert all(job.after is not None for job in jobs)
    known = record.parts(record.read())
    assert [job.id for job in jobs if not known.get((job.id, backend), {}).get("holds")] == []


def test_a_rewrite_that_holds_was_run_in_many_cases():
    entries = [entry for key, entry in record.read().items() if " -> " in key]
    proven = [entry for entry in entries if entry["holds"]]
    assert len(proven) > 100
    assert all(sum(entry["cases"].values()) >= 8 for entry in proven)


def test_the_record_names_the_versions_and_backends_that_ran():
    about = record.read()[record.ABOUT]
    assert set(about["frameworks"]) == {"keras", "numpy", "tensorflow", "tf_keras"}
    assert set(about["backends"]) == {"jax", "tensorflow", "torch"}
    assert about["backends"]["tensorflow"] == about["frameworks"]["tensorflow"]


def test_results_on_a_backend_are_of_the_recorded_version():
    known = record.read()
    versions = known[record.ABOUT]["backends"]
    assert {backend for _, backend in record.parts(known)} == {
        backend for backend, version in versions.items() if version != record.NOT_RUN
    }


def test_the_record_is_sorted(tmp_path):
    known = record.read()
    record.write(known[record.ABOUT], record.parts(known), tmp_path / "proofs.json")
    assert record.RECORD.read_bytes() == (tmp_path / "proofs.json").read_bytes()


# What stands when something is proven anew.

ABOUT = {
    "frameworks": {"keras": "3.15.1"},
    "backends": {"tensorflow": "2.21.0", "jax": "0.10", "torch": "not run"},
    "cases_per_rewrite": 150,
    "cases_elsewhere": 60,
    "seed": 0,
}
ENTRY = {"holds": True, "backends": {"jax": {"holds": False}}}
KNOWN = {"about": ABOUT, "f -> g": ENTRY, "gone -> too": ENTRY}


def test_a_run_without_a_backend_keeps_its_results():
    now = ABOUT | {"backends": {"tensorflow": "2.21.0", "jax": "not run", "torch": "not run"}}
    standing = record.standing(KNOWN, now, {"f -> g"})
    assert standing == {
        ("f -> g", "tensorflow"): {"holds": True},
        ("f -> g", "jax"): {"holds": False},
    }
    assert record.with_backends(now, KNOWN, standing)["backends"] == ABOUT["backends"]


def test_a_new_version_of_a_backend_drops_its_results_only():
    now = ABOUT | {"backends": {"tensorflow": "2.21.0", "jax": "0.11", "torch": "not run"}}
    assert set(record.standing(KNOWN, now, {"f -> g"})) == {("f -> g", "tensorflow")}


@pytest.mark.parametrize(
    "now", [{"frameworks": {"keras": "3.16.0"}}, {"seed": 1}, {"cases_per_rewrite": 9}]
)
def test_results_of_other_versions_or_inputs_are_dropped(now):
    standing = record.standing(KNOWN, ABOUT | now, {"f -> g"})
    assert ("f -> g", "tensorflow") not in standing
