"""pytest --warpbeam: the session runs on the virtual GPU. What loads CUDA's libraries gets Warpbeam's."""
import os
import sys

_MARK = "WARPBEAM_PYTEST"


def pytest_addoption(parser):
    group = parser.getgroup("warpbeam", "a virtual GPU")
    group.addoption("--warpbeam", action="store_true", help="run the tests on Warpbeam's virtual GPU")
    group.addoption("--warpbeam-device", metavar="NAME", help="which GPU it is (`warpbeam devices` lists them)")


def pytest_configure(config):
    config.addinivalue_line("markers", "warpbeam: tests that need the virtual GPU (--warpbeam); skipped without")


def pytest_cmdline_main(config):
    if not config.getoption("warpbeam") or os.environ.get(_MARK) or hasattr(config, "workerinput"):
        return None
    from . import executable

    # Libraries are chosen when a process starts: pytest starts anew.
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.stop_global_capturing()
    os.environ[_MARK] = "1"
    device = config.getoption("warpbeam_device")
    words = [executable(), "run", *(["--device", device] if device else []), "--", sys.executable, "-m", "pytest", *config.invocation_params.args]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(words[0], words)


def pytest_report_header(config):
    if os.environ.get(_MARK):
        return f"warpbeam: virtual GPU {os.environ.get('WARPBEAM_DEVICE', 'h200')}"
    return None


def pytest_collection_modifyitems(config, items):
    if os.environ.get(_MARK):
        return
    import pytest

    for item in items:
        if item.get_closest_marker("warpbeam"):
            item.add_marker(pytest.mark.skip(reason="needs --warpbeam"))
