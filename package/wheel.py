"""Makes a wheel of a tree that tree.py completed.

    wheel.py TREE VERSION FOLDER

A wheel holds no links: other names of a library are scripts for linkers in lib64, and small libraries in lib for programs that load them.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TAG = "py3-none-manylinux_2_34_x86_64"
METADATA = """Metadata-Version: 2.1
Name: warpbeam
Version: {version}
Summary: The CUDA platform, in software: unmodified CUDA programs compile and run without a GPU
License: Apache-2.0
Requires-Python: >=3.8
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Framework :: Pytest
Description-Content-Type: text/markdown

"""
WHEEL = f"Wheel-Version: 1.0\nGenerator: warpbeam\nRoot-Is-Purelib: false\nTag: {TAG}\n"
ENTRY_POINTS = "[console_scripts]\nwarpbeam = warpbeam.__main__:main\n\n[pytest11]\nwarpbeam = warpbeam.pytest_plugin\n"
# Libraries that are known under two names, and the one with a number that stands in for the other where a program loads it.
LOADED = {"libcuda.so": "libcuda.so.1", "libcudart.so": "libcudart.so.13"}


def is_elf(file):
    with open(file, "rb") as f:
        return f.read(4) == b"\x7fELF"


def files_of(tree):
    """Name in the tree and bytes, or a file, of everything."""
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if not os.path.islink(os.path.join(folder, f)) and f != "targets")
        for name in sorted(names):
            file = os.path.join(folder, name)
            place = os.path.relpath(file, tree)
            if not os.path.islink(file):
                yield place, file
            elif place.startswith("lib/") and name in LOADED:
                yield place, os.path.join(folder, LOADED[name])
    for name in sorted(os.listdir(f"{tree}/lib")):
        file = os.path.join(tree, "lib", name)
        if name.endswith((".so", ".a")) and os.path.isfile(file) and not name.startswith("libwarpbeam_"):
            to = os.path.basename(os.path.realpath(file))
            if not is_elf(file):  # a script itself
                with open(file, encoding="utf-8") as f:
                    to = f.read().split('"')[1]
            yield f"lib64/{name}", f'INPUT("../lib/{to}")\n'.encode()
            yield f"lib64/stubs/{name}", f'INPUT("../../lib/{to}")\n'.encode()


def libnvvm(tree):
    """What programs load as nvvm/lib64/libnvvm.so, where a tree has a link: a library without functions that brings lib/libnvvm.so along."""
    with tempfile.TemporaryDirectory() as folder:
        file = shutil.copy2(os.path.realpath(f"{tree}/lib/libnvvm.so.4"), f"{folder}/libnvvm.so")
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/../../lib", file], check=True)
        with open(file, "rb") as f:
            return f.read()


def main():
    tree, version, folder = sys.argv[1:4]
    info = f"warpbeam-{version}.dist-info"
    out = os.path.join(folder, f"warpbeam-{version}-{TAG}.whl")
    record = []
    with open(os.path.join(tree, "share/doc/warpbeam/README.md"), encoding="utf-8") as f:
        readme = f.read()
    with zipfile.ZipFile(out + ".part", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as wheel:

        def add(name, source):
            data = source
            mode, when = 0o644, time.time()
            if not isinstance(source, bytes):
                with open(source, "rb") as f:
                    data = f.read()
                mode, when = (0o755 if os.access(source, os.X_OK) else 0o644), os.path.getmtime(source)
            row = zipfile.ZipInfo(name, time.localtime(max(when, 315619200))[:6])
            row.compress_type = zipfile.ZIP_DEFLATED
            row.external_attr = (0o100000 | mode) << 16
            wheel.writestr(row, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f'"{name}",sha256={digest},{len(data)}' if "," in name else f"{name},sha256={digest},{len(data)}")

        for name in sorted(os.listdir(f"{HERE}/python/warpbeam")):
            if name.endswith(".py"):
                add(f"warpbeam/{name}", f"{HERE}/python/warpbeam/{name}")
        for name, source in files_of(tree):
            add(f"warpbeam/tree/{name}", source)
        add("warpbeam/tree/nvvm/lib64/libnvvm.so", libnvvm(tree))
        add(f"{info}/METADATA", (METADATA.format(version=version) + readme).encode())
        add(f"{info}/WHEEL", WHEEL.encode())
        add(f"{info}/entry_points.txt", ENTRY_POINTS.encode())
        record.append(f"{info}/RECORD,,")
        wheel.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    os.replace(out + ".part", out)
    print(out)


if __name__ == "__main__":
    main()
