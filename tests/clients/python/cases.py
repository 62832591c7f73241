"""Cases of a client: functions marked @case, each run by itself; `finish()` tells of all and ends the program.

With WARPBEAM_CLIENTS_RECORD=FOLDER the outcome is kept there, and tests/clients/write_page makes docs/clients.md of it.
"""
import importlib.metadata
import json
import os
import sys
import traceback

_cases = []


class Skipped(Exception):
    pass


def case(function):
    _cases.append(function)
    return function


def close(a, b, by=1e-5):
    import numpy
    numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=by, atol=by)


def finish(client, *packages):
    outcome = {"client": client, "versions": {package: importlib.metadata.version(package) for package in packages}, "passed": [], "failed": {}, "skipped": {}}
    for function in _cases:
        name = function.__name__
        try:
            function()
            outcome["passed"].append(name)
        except Skipped as reason:
            outcome["skipped"][name] = str(reason)
        except Exception as wrong:  # noqa: BLE001: every case is told of
            traceback.print_exc()
            outcome["failed"][name] = f"{type(wrong).__name__}: {str(wrong).splitlines()[0] if str(wrong) else ''}"[:160]
    if folder := os.environ.get("WARPBEAM_CLIENTS_RECORD"):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{client.replace(' ', '_')}.json"), "w") as file:
            json.dump(outcome, file, indent=1, sort_keys=True)
            file.write("\n")
    for name, reason in outcome["failed"].items():
        print(f"{client}: {name} failed: {reason}")
    print(f"{client}: {len(outcome['passed'])} passed, {len(outcome['failed'])} failed, {len(outcome['skipped'])} skipped")
    sys.exit(1 if outcome["failed"] else 0)
