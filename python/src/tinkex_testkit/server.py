"""The control API of a test server, scoped to one test."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, List, Mapping, Optional, Sequence

TIMEOUT_SEC = 60.0
_OWN_MODULE = __name__


class TestkitError(Exception):
    """The server refused an instruction; the message says why."""

    __test__ = False


class VerificationError(AssertionError):
    """The server complains: a broken rule of the protocol, an unmet expectation, an unused script."""

    def __init__(self, problems: Sequence[str]) -> None:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        super().__init__(f"The test server has {len(problems)} complaint(s):\n{lines}")
        self.problems = list(problems)


class RouteScript:
    """What the server does with calls of one route. Each method sends one script."""

    def __init__(self, server: "TinkexServer", route: str) -> None:
        self._server = server
        self._route = route

    def reply(
        self,
        status: int,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        *,
        times: Optional[int] = None,
        delay_ms: Optional[float] = None,
        request_id: Optional[str] = None,
        **fields: Any,
    ) -> None:
        """Answer in place of the server. ``fields`` are those of an error, such as ``retry_after_ms=200`` or ``detail="later"``."""
        reply = {"status": status, "body": body, "headers": dict(headers) if headers else None}
        reply.update({_camel(name): value for name, value in fields.items()})
        self._send({"reply": _set(reply)}, times, delay_ms, request_id)

    def result(self, value: Any, *, times: Optional[int] = None, delay_ms: Optional[float] = None) -> None:
        """Accept the submission and resolve its operation to this value, in the names of the wire."""
        self._send({"result": value}, times, delay_ms, None)

    def fail(self, error: str, category: str = "server", *, times: Optional[int] = None, delay_ms: Optional[float] = None) -> None:
        """Accept the submission and fail its operation."""
        self._send({"fail": {"error": error, "category": category}}, times, delay_ms, None)

    def fault(self, kind: str, *, moment: str = "before", times: Optional[int] = None, delay_ms: Optional[float] = None) -> None:
        """Break the connection before or after the work is done."""
        self._send({"fault": {"kind": kind, "moment": moment}}, times, delay_ms, None)

    def _send(self, action: Dict[str, Any], times: Optional[int], delay_ms: Optional[float], request_id: Optional[str]) -> None:
        script = {"times": times, "delayMs": delay_ms, "requestId": request_id, "createdAt": _caller()}
        self._server.request("POST", "/scripts", {"route": self._route, **action, **_set(script)})


class TinkexServer:
    """A Tinker server, and the controls of one scope of it."""

    def __init__(self, url: str, token: str, scope: str) -> None:
        self.url = url
        self.scope = scope
        self.api_key = f"tml-scope-{scope}"
        self._token = token

    def on(self, route: str) -> RouteScript:
        """Script calls of a route, such as ``asample``."""
        return RouteScript(self, route)

    def expect(self, route: str, at_least: Optional[int] = None, at_most: Optional[int] = None) -> None:
        """Expect a number of calls of a route. Without numbers: at least one."""
        self.request("POST", "/expectations", {"route": route, **_set({"atLeast": at_least, "atMost": at_most})})

    def chaos(
        self,
        seed: int,
        rate: float = 0.1,
        kinds: Optional[Sequence[str]] = None,
        routes: Optional[Sequence[str]] = None,
        max_faults_per_operation: Optional[int] = None,
        max_delay_ms: Optional[float] = None,
    ) -> None:
        """Random faults that depend on the seed alone."""
        options = {"kinds": kinds, "routes": routes, "maxFaultsPerOperation": max_faults_per_operation, "maxDelayMs": max_delay_ms}
        self.request("POST", "/chaos", {"seed": seed, "rate": rate, **_set(options)})

    def calls(self, route: Optional[str] = None, status: Optional[int] = None, request_id: Optional[str] = None) -> List[Dict[str, Any]]:
        """The recorded calls, oldest first."""
        filters = _set({"route": route, "status": status, "requestId": request_id})
        return self.request("GET", f"/calls?{urllib.parse.urlencode(filters)}")["calls"]

    def count(self, route: str) -> int:
        """How many calls of a route there were."""
        return len(self.calls(route))

    def advance(self, ms: float) -> None:
        """Move the virtual clock of the server, for all its scopes."""
        self.request("POST", "/clock", {"advanceMs": ms})

    def verify(self) -> None:
        """Raise a VerificationError if the server complains."""
        problems = self.request("GET", "/verify")["problems"]
        if problems:
            raise VerificationError(problems)

    def reset(self) -> None:
        """Forget the scripts, chaos, expectations and calls of this scope."""
        self.request("POST", "/reset", {})

    def request(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        """One request to the control API."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self._token}", "x-testkit-scope": self.scope, "content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/__testkit{path}", data=data, headers=headers, method=method)
        try:
            with _OPENER.open(request, timeout=TIMEOUT_SEC) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            detail = error.read().decode(errors="replace")
            raise TestkitError(_detail(detail)) from None


# Never through a proxy of the environment: the server is on this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _detail(text: str) -> str:
    try:
        return str(json.loads(text)["detail"])
    except (ValueError, KeyError, TypeError):
        return text


def _set(fields: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _caller() -> Optional[str]:
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == _OWN_MODULE:
        frame = frame.f_back
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
