"""%%cuda: a cell of CUDA C++ is compiled and run, or checked, or profiled.

    %load_ext warpbeam
    %%cuda [--check | --profile] [options of `warpbeam run` and nvcc] [-- arguments of the program]
"""
import atexit
import hashlib
import os
import shlex
import subprocess
import sys

from . import _Folder, executable

_folder = None


def _source(text):
    """A file with that text; the same text has the same file, which is compiled once."""
    global _folder
    if _folder is None:
        _folder = _Folder()
        atexit.register(_folder.remove)
    file = os.path.join(_folder.name, f"cell-{hashlib.sha256(text.encode()).hexdigest()[:12]}.cu")
    if not os.path.exists(file):
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
    return file


def cuda(line, cell):
    words = shlex.split(line)
    program = []
    if "--" in words:
        at = words.index("--")
        words, program = words[:at], words[at:]
    command = "run"
    for name in ("check", "profile"):
        if "--" + name in words:
            words.remove("--" + name)
            command = name
    process = subprocess.Popen([executable(), command, "-I" + os.getcwd(), *words, _source(cell), *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               encoding="utf-8", errors="replace")
    try:
        for text in process.stdout:
            sys.stdout.write(text)
    except KeyboardInterrupt:
        process.terminate()
    status = process.wait()
    if status:
        print(f"exit status {status}", file=sys.stderr)


def load(ipython):
    ipython.register_magic_function(cuda, "cell", "cuda")
