"""For pytest in tests/clients/suites/suite.py: which tests run, and what came of each, told as it happens."""
import fnmatch
import json
import os
import zlib

import pytest

_plan = json.loads(os.environ["WARPBEAM_SUITE"])


def _tell(**entry):
    with open(_plan["told"], "a") as file:
        file.write(json.dumps(entry) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    done, kept = set(_plan["done"]), []
    for item in items:
        name = item.nodeid
        if _plan["only"] and not any(fnmatch.fnmatchcase(name, pattern) for pattern in _plan["only"]):
            continue
        every = next(number for pattern, number in reversed(_plan["every"]) if fnmatch.fnmatchcase(name, pattern))
        if name in done or zlib.crc32(name.encode()) % every or (_plan["filters"] and not any(part in name for part in _plan["filters"])):
            continue
        why = next((why for pattern, why in _plan["skip"] if fnmatch.fnmatchcase(name, pattern)), None)
        if why is not None:
            _tell(name=name, outcome="skipped", why=why)
            continue
        kept.append(item)
    items[:] = kept


def pytest_runtest_logstart(nodeid, location):
    _tell(begin=nodeid)
    _state[nodeid] = ("passed", "")


_state = {}
# After these every call of the process fails: the other tests get a new one.
_FOR_GOOD = ("illegal memory access", "illegal instruction", "misaligned address", "unspecified launch failure", "device-side assert",
             "CUDA_ERROR_ILLEGAL_", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ASSERT")
_device_failed = []


def _first_line(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[:3])[:400] if lines else ""


def pytest_runtest_logreport(report):
    if report.outcome == "skipped" and hasattr(report, "wasxfail"):
        return
    if report.outcome == "skipped":
        _state[report.nodeid] = ("skipped", report.longrepr[2].removeprefix("Skipped: ")[:160] if isinstance(report.longrepr, tuple) else str(report.longrepr)[:160])
    elif report.outcome == "failed":
        why = _first_line(report)
        _device_failed.extend(word for word in _FOR_GOOD if word in report.longreprtext)
        _state[report.nodeid] = ("failed", why)
        if show := os.environ.get("WARPBEAM_SUITE_SHOW"):
            with open(show, "a") as file:
                file.write(f"=== {report.nodeid}\n{report.longreprtext}\n{report.capstderr}\n")


def pytest_runtest_logfinish(nodeid, location):
    outcome, why = _state.pop(nodeid, ("passed", ""))
    _tell(name=nodeid, outcome=outcome, why=why)
    if _device_failed:
        _tell(again=True)
        os._exit(1)


def pytest_collectreport(report):
    if report.nodeid in _plan["done"]:
        return
    if report.failed:
        _tell(name=report.nodeid or "collection", outcome="failed", why=("not read: " + _last_line(report.longreprtext))[:300])
    elif report.skipped and isinstance(report.longrepr, tuple):
        _tell(name=report.nodeid, outcome="skipped", why=report.longrepr[2].removeprefix("Skipped: ")[:160])


# The tests in Numba's wheel ask for it; what makes it is in their repository only.
@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False


def _last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def pytest_sessionfinish(session, exitstatus):
    _tell(end=int(exitstatus))
