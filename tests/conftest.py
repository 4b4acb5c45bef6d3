import itertools
import os
import random
import secrets
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kdoctor import own_process
from tests.forking import Forking

# No test is timed: a machine may be busy, and a draw that took long is no failure.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("untimed")


def pytest_configure():
    """Hear SIGINT, which what a script runs in its background ignores, and hands on to children.

    Tests send it to programs that they start. And libcst is what it is where kdoctor runs:
    what a program sees that imports kdoctor,  starts one to tell.
    """
    own_process.claim()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--sample",
        action="store_true",
        help="of the tests that are marked as sampled, run some that are drawn anew each time",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Draw what is only sampled, and put the rest in its order."""
    if config.getoption("sample"):
        _draw(config, items)
    _put_long_files_first(items)


def _draw(config, items):
    """Keep one in so many of the cases of a test that is marked as sampled, at least one.

    All processes of a run draw the same.
    """
    worker = getattr(config, "workerinput", None)
    seed = worker["testrunuid"] if worker else secrets.token_hex()
    cases = {}
    for each in items:
        if marker := each.get_closest_marker("sampled"):
            cases.setdefault((each.path, each.originalname, *marker.args), []).append(each)
    left = set()
    for (path, name, one_in), some in cases.items():
        draw = random.Random(f"{seed} {path.name} {name}")  # noqa: S311
        kept = {*draw.sample(some, -(-len(some) // one_in))}
        left |= {each for each in some if each not in kept}
    if left:
        config.hook.pytest_deselected(items=[*left])
        items[:] = [each for each in items if each not in left]


@pytest.fixture(scope="module")
def is_run(request):
    """Say of a test of this module, and of a value that it is given, whether they are run.

    What a module sets up for all of its cases at once is needed for those alone that were drawn.
    """
    run = {
        (item.originalname, value)
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
        for value in item.callspec.params.values()
        if isinstance(value, str)
    }
    return lambda test, value: (test.__name__, value) in run


def _put_long_files_first(items):
    """Begin with the files that take longest: those that run frameworks or the whole program.

    With ``--dist loadfile`` one process would else still be at one of them when all else is done.
    """
    long = {each.path for each in items if each.get_closest_marker("frameworks")}
    programs = {"acceptance", "cli", "environment", "server", "watch"}
    long |= {each.path for each in items if each.path.parent.name in programs}
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


_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def _no_journal_of_the_user(_state, monkeypatch):
    """What tests apply is not among what whoever runs them may take back, nor another test.

    Journals know a project that was moved by its inode: a folder that goes leaves it to the next.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(_state / str(next(_NUMBERS))))


@pytest.fixture(scope="session")
def apart():
    """A folder that has none of the thousands of folders of tests beside it.

    A scan in no project looks into each folder above: with 8,000 in one it takes ten times as long.
    """
    with tempfile.TemporaryDirectory(prefix="kdoctor-tests-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def _empty(apart):
    folder = apart / "empty"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _in_no_project(_empty, monkeypatch):
    """What is scanned as standard input belongs to the project that the process is in.

    In this repository each fix that lets an import go would look who else imports it: among more
    than a thousand files.
    """
    monkeypatch.chdir(_empty)


@pytest.fixture(scope="session")
def drawn_of(pytestconfig):
    """What keeps one in so many with --sample, and all without it."""

    def drawn(some, one_in):
        some = list(some)
        count = -(-len(some) // one_in) if pytestconfig.getoption("sample") else len(some)
        return secrets.SystemRandom().sample(some, count)

    return drawn


@pytest.fixture(scope="session")
def variables(_state):
    """The environment of what a fixture of a whole module starts: the ones above come later."""
    return os.environ | {"KDOCTOR_NO_CACHE": "1", "XDG_STATE_HOME": str(_state)}


@pytest.fixture(scope="session")
def forking():
    """What runs ``kdoctor`` in a process of its own, without the start of one."""
    made = Forking()
    yield made
    made.end()
