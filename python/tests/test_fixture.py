import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from tinkex_testkit import TestkitError, VerificationError


def get(server, path):
    request = urllib.request.Request(f"{server.url}/api/v1/{path}", headers={"x-api-key": server.api_key})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, dict(response.headers), json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), json.load(error)


def test_scripts_a_429_once(tinkex_server):
    tinkex_server.on("getServerCapabilities").reply(429, retry_after_ms=200, times=1)
    status, headers, _ = get(tinkex_server, "get_server_capabilities")
    assert (status, headers["retry-after-ms"]) == (429, "200")
    assert get(tinkex_server, "get_server_capabilities")[0] == 200


def test_counts_and_shows_calls(tinkex_server):
    tinkex_server.expect("healthz", at_least=2, at_most=2)
    get(tinkex_server, "healthz")
    get(tinkex_server, "healthz")
    get(tinkex_server, "sessions?limit=5&offset=0&access_scope=owned")
    assert tinkex_server.count("healthz") == 2
    assert [call["path"] for call in tinkex_server.calls(status=200)][-1].startswith("/api/v1/sessions")


def test_breaks_connections(tinkex_server):
    tinkex_server.on("healthz").fault("reset", times=1)
    with pytest.raises((ConnectionError, urllib.error.URLError)):
        get(tinkex_server, "healthz")
    assert get(tinkex_server, "healthz")[0] == 200


def test_suggests_the_route_that_was_meant(tinkex_server):
    with pytest.raises(TestkitError, match='did you mean "getServerCapabilities"'):
        tinkex_server.on("get_server_capabilities").reply(500)


def test_names_the_line_of_an_unused_script(tinkex_server):
    tinkex_server.on("healthz").reply(500)
    with pytest.raises(VerificationError, match=r"test_fixture\.py:\d+"):
        tinkex_server.verify()
    tinkex_server.reset()


def test_leaves_no_server_behind_when_the_tests_are_killed(pytestconfig):
    program = "import os, sys, time; from tinkex_testkit import ServerProcess; "
    program += "process = ServerProcess(os.environ.get('TINKEX_TESTKIT_COMMAND', sys.argv[1])); print(process.url, flush=True); time.sleep(600)"
    command = [sys.executable, "-c", program, pytestconfig.getini("tinkex_command")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tests:
        url = tests.stdout.readline().strip()
        urllib.request.urlopen(f"{url}/api/v1/healthz").close()
        tests.send_signal(signal.SIGKILL)
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/api/v1/healthz").close()
        except urllib.error.URLError:
            return
        except ConnectionError:
            pass  # It accepted the connection and ended before it answered.
        time.sleep(0.1)
    pytest.fail("the server still runs")


def test_a_broken_rule_fails_the_test(pytester, tinkex_process, monkeypatch):
    url, token = tinkex_process
    monkeypatch.setenv("TINKEX_TESTKIT_URL", url)
    monkeypatch.setenv("TINKEX_TESTKIT_TOKEN", token)
    pytester.makepyfile(
        """
        import urllib.error, urllib.request, pytest

        def test_calls_a_wrong_path(tinkex_server):
            request = urllib.request.Request(tinkex_server.url + "/api/v1/nowhere", headers={"x-api-key": tinkex_server.api_key})
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(request)
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*route-unknown*"])
