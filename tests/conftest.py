import pytest


@pytest.fixture(autouse=True)
def _no_active_environment(monkeypatch):
    """The environment in which the tests run is not that of the projects that they scan."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS"):
        monkeypatch.delenv(name, raising=False)
