"""Connect to a running Dask cluster by its address."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from kdoctor.errors import UsageProblem

# How Dask itself calls them.
_PROTOCOLS: Final = {"dask": "tcp", "dask+tls": "tls"}
_DASKS_PORT: Final = 8786
_SECONDS: Final = 5


@contextmanager
def executor_at(address: str) -> Iterator[Executor]:
    """Connect to the cluster at an address such as ``dask://scheduler:8786``, and leave it after.

    Raises:
        UsageProblem: it is no such address, Dask is not installed, or nothing answers there.
    """
    try:
        url = urlsplit(address)
        protocol, host, port = _PROTOCOLS.get(url.scheme), url.hostname, url.port or _DASKS_PORT
    except ValueError:
        protocol = host = None
    if protocol is None or not host:
        raise UsageProblem(f"unknown executor {address!r}; write dask://HOST:8786")
    try:
        from distributed import Client  # noqa: PLC0415
    except ImportError as error:
        raise UsageProblem(
            f"{address}: Dask is not installed; pip install 'keras-doctor[dask]'"
        ) from error
    # What goes wrong is said once, in a sentence of ours.
    for name in ("distributed", "distributed.client", "concurrent.futures"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    host = f"[{host}]" if ":" in host else host
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client = Client(f"{protocol}://{host}:{port}", timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise UsageProblem(
            f"{address}: no Dask scheduler answered within {_SECONDS} seconds; "
            "start one with `dask scheduler`, and workers with `dask worker`"
        ) from error
    with client:
        yield client.get_executor()
