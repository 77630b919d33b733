"""The fixtures that pytest finds by itself."""

from __future__ import annotations

import os
import uuid
from typing import Iterator, Tuple

import pytest

from .process import DEFAULT_COMMAND, ServerProcess
from .server import TinkexServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("tinkex_command", "The command that starts the Tinker test server.", default=DEFAULT_COMMAND)


@pytest.fixture(scope="session")
def tinkex_process(pytestconfig: pytest.Config) -> Iterator[Tuple[str, str]]:
    """The URL and the control token of the server that all tests share."""
    url, token = os.environ.get("TINKEX_TESTKIT_URL"), os.environ.get("TINKEX_TESTKIT_TOKEN")
    if url and token:
        yield url.rstrip("/"), token
        return
    if url or token:
        raise pytest.UsageError("Set both TINKEX_TESTKIT_URL and TINKEX_TESTKIT_TOKEN, or neither.")
    process = ServerProcess(os.environ.get("TINKEX_TESTKIT_COMMAND") or pytestconfig.getini("tinkex_command"))
    try:
        yield process.url, process.token
    finally:
        process.stop()


@pytest.fixture
def tinkex_server(tinkex_process: Tuple[str, str]) -> Iterator[TinkexServer]:
    """A Tinker server with a fresh scope. After the test it is verified."""
    url, token = tinkex_process
    server = TinkexServer(url, token, f"py-{uuid.uuid4().hex[:12]}")
    try:
        yield server
        server.verify()
    finally:
        server.reset()
