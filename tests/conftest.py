import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.forking import Forking

# No test is timed: a machine may be busy, and a draw that took long is no failure.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("untimed")


def pytest_configure():
    """Hear SIGINT, which what a script runs in its background ignores, and hands on to children.

    Tests send it to programs that they start.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest: those that run frameworks or the whole program.

    With ``--dist loadfile`` one process would else still be at one of them when all else is done.
    """
    long = {each.path for each in items if each.get_closest_marker("frameworks")}
    long |= {each.path for each in items if each.path.parent.name == "acceptance"}
    items.sort(key=lambda each: each.path not in long)


@pytest.fixture(autouse=True)
def _no_active_environment(monkeypatch):
    """The environment in which the tests run is not that of the projects that they scan."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    """No test leaves a cache in the repository, or finds what another test left."""
    monkeypatch.setenv("KDOCTOR_NO_CACHE", "1")
    monkeypatch.delenv("KDOCTOR_CACHE_DIR", raising=False)


@pytest.fixture(scope="session")
def _state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _no_journal_of_the_user(_state, monkeypatch):
    """What tests apply is not among what whoever runs them may take back."""
    monkeypatch.setenv("XDG_STATE_HOME", str(_state))


@pytest.fixture(scope="session")
def _empty(tmp_path_factory):
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(autouse=True)
def _in_no_project(_empty, monkeypatch):
    """What is scanned as standard input belongs to the project that the process is in.

    In this repository each fix that lets an import go would look who else imports it: among more
    than a thousand files.
    """
    monkeypatch.chdir(_empty)


@pytest.fixture(scope="session")
def forking():
    """What runs ``kdoctor`` in a process of its own, without the start of one."""
    made = Forking()
    yield made
    made.end()
