"""CUDA without a GPU, from Python: Warpbeam's commands as functions.

    import warpbeam
    warpbeam.run("saxpy.cu", "1000000", device="a100")       # compile and run
    warpbeam.run(["python3", "train.py"])                    # any command finds Warpbeam where it looks for CUDA
    for finding in warpbeam.check("saxpy.cu").findings: ...
    warpbeam.profile("saxpy.cu").recording["launches"]
    ctypes.CDLL(warpbeam.library_path("cuda"))               # libcuda.so.1

`pytest --warpbeam` runs a test session so; `%load_ext warpbeam` gives notebooks the cell magic `%%cuda`.
"""
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("warpbeam")
except PackageNotFoundError:  # used from a folder
    __version__ = "0"

_TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree")
# Versions in the names of libraries that programs load.
_NUMBERED = {"cuda": "libcuda.so.1", "cudart": "libcudart.so.13", "nvidia-ml": "libnvidia-ml.so.1"}


class Error(RuntimeError):
    """The program did not end well; `result` is what is known of it."""

    def __init__(self, result):
        super().__init__(f"exit status {result.returncode}: {' '.join(result.args)}\n{result.stderr or ''}".rstrip())
        self.result = result


def root():
    """The folder that looks like a CUDA toolkit: CUDA_HOME, CUDAToolkit_ROOT."""
    return os.environ.get("WARPBEAM_TREE") or _TREE


def executable():
    return os.path.join(root(), "bin", "warpbeam")


def library_path(name=None):
    """The folder of the libraries, or one of them: library_path("cublas")."""
    folder = os.path.join(root(), "lib")
    if name is None:
        return folder
    file = os.path.join(folder, _NUMBERED.get(name, f"lib{name}.so"))
    if not os.path.exists(file):
        raise FileNotFoundError(f"Warpbeam has no library '{name}' ({file})")
    return file


def _command(what, program, arguments, options):
    words = [executable(), what]
    for name, value in options.items():
        if value is not None and value is not False:
            words.append("--" + name.replace("_", "-"))
            if value is not True:
                words.append(str(value))
    if isinstance(program, (str, os.PathLike)):
        words.append(os.fspath(program))
        if arguments:
            words += ["--", *arguments]
    elif what == "run":
        words += ["--", *map(os.fspath, program), *arguments]
    else:  # a source with options of the compiler, or an executable with arguments
        words += [*map(os.fspath, program), *arguments]
    return [os.fspath(word) for word in words]


def _start(words, capture, verify, **more):
    # What a program prints may be anything.
    kept = subprocess.PIPE if capture else None
    result = subprocess.run(words, encoding="utf-8", errors="replace", stdout=kept, stderr=kept, **more)
    if verify and result.returncode:
        raise Error(result)
    return result


def run(program, *arguments, capture=True, verify=True, cwd=None, env=None, timeout=None, **options):
    """Runs a CUDA source (or several words: a list is a command) on the virtual GPU, as `warpbeam run` does.

    `options` are its options: device="v100", clock="device", strict=True. Returns a subprocess.CompletedProcess; raises Error where the
    program fails, unless verify=False.
    """
    return _start(_command("run", program, [str(a) for a in arguments], options), capture, verify, cwd=cwd, env=env, timeout=timeout)


class _Folder:
    """A temporary folder, locked: of those that nobody holds, since Python was killed, the command removes the rest (src/compiler/temporary_directory.cc)."""

    def __init__(self):
        try:
            with open("/proc/sys/kernel/random/boot_id") as f:
                boot = f.read(8) + "."
        except OSError:
            boot = ""
        while True:
            self.name = tempfile.mkdtemp(prefix="warpbeam." + boot)
            try:
                self.lock = os.open(self.name, os.O_RDONLY)
            except FileNotFoundError:  # before it was locked, another process took it for one of those
                continue
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(self.lock).st_nlink:
                    return
            except BlockingIOError:
                pass
            except OSError:  # no locks here
                return
            os.close(self.lock)

    def remove(self):
        shutil.rmtree(self.name, ignore_errors=True)
        os.close(self.lock)

    def __enter__(self):
        return self.name

    def __exit__(self, *_):
        self.remove()


def _with_json(what, program, arguments, capture, verify, more, options):
    with _Folder() as folder:
        file = os.path.join(folder, "out.json")
        result = _start(_command(what, program, [str(a) for a in arguments], {**options, "json": file}), capture, verify, **more)
        found = None
        if os.path.exists(file):
            with open(file, encoding="utf-8") as f:
                found = json.load(f)
    if found is None and not verify:
        raise Error(result)  # it was not even started
    return result, found


def check(program, *arguments, capture=True, cwd=None, env=None, timeout=None, **options):
    """Finds a program's mistakes, as `warpbeam check` does. The result has `findings`, and `ok` where there are none that are errors."""
    result, report = _with_json("check", program, arguments, capture, False, dict(cwd=cwd, env=env, timeout=timeout), options)
    result.report = report
    result.findings = report.get("findings", [])
    result.ok = result.returncode == 0
    return result


def profile(program, *arguments, capture=True, cwd=None, env=None, timeout=None, **options):
    """Counts what kernels do, as `warpbeam profile` does. The result has `recording`, whose format docs/profiler.md tells."""
    result, recording = _with_json("profile", program, arguments, capture, True, dict(cwd=cwd, env=env, timeout=timeout), options)
    result.recording = recording
    return result


def load_ipython_extension(ipython):
    from .notebook import load

    load(ipython)
