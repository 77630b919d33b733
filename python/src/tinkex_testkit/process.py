"""The server as a process of the test session."""

from __future__ import annotations

import secrets
import shlex
import subprocess
import tempfile
import time
from typing import IO, Optional

DEFAULT_COMMAND = "npx --yes @tinkex/testkit serve"
START_TIMEOUT_SEC = 120.0
STOP_TIMEOUT_SEC = 10.0
_MARK = "export TINKER_BASE_URL="


class ServerProcess:
    """Runs ``serve --control`` until ``stop()``, or until this process is gone: its end of the pipe is."""

    def __init__(self, command: str = DEFAULT_COMMAND, timeout_sec: float = START_TIMEOUT_SEC) -> None:
        self.token = secrets.token_hex(16)
        # A file, not a pipe: nobody reads a pipe while tests run, and a full one would stop the server.
        self._output: IO[bytes] = tempfile.TemporaryFile()
        arguments = [*shlex.split(command), "--port", "0", "--control", self.token, "--until-stdin-ends"]
        self._process: Optional[subprocess.Popen[bytes]] = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=self._output, stderr=subprocess.STDOUT
        )
        try:
            self.url = self._wait_for_url(command, timeout_sec)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the process. Idempotent."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_SEC)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._output.close()

    def _wait_for_url(self, command: str, timeout_sec: float) -> str:
        deadline = time.monotonic() + timeout_sec
        while True:
            assert self._process is not None
            text = self._read()
            for line in text.splitlines():
                if _MARK in line:
                    return line.split(_MARK, 1)[1].strip()
            if self._process.poll() is not None:
                raise RuntimeError(f"{command!r} ended before it listened. Set tinkex_command to a command that starts it. It printed:\n{text}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"{command!r} did not listen within {timeout_sec:.0f} s. It printed:\n{text}")
            time.sleep(0.05)

    def _read(self) -> str:
        self._output.seek(0)
        return self._output.read().decode(errors="replace")
