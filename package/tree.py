"""Adds to an installed tree (cmake --install) what it needs at run time: a compiler, a linker, headers of C and C++, OpenBLAS and FFTW.

    tree.py TREE

Everything is of the system that this runs on, a Debian with the build's packages. The compiler's files are in lib/warpbeam and look for their
libraries there before anywhere else; libraries that come into users' processes have names that nobody else's have.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

import elf

HERE = os.path.dirname(os.path.abspath(__file__))
LLVM = "/usr/lib/llvm-19"
MULTIARCH = "/usr/lib/x86_64-linux-gnu"
# Every system has these: of glibc, and the library of GCC that goes with it.
OF_SYSTEM = re.compile(r"^(lib(c|m|dl|rt|pthread|util|resolv|mvec|gcc_s)\.so|ld-linux|linux-vdso)")
# Headers of clang's for other processors.
OTHERS = re.compile(r"^(arm|riscv|altivec|hexagon|hvx|s390|vecintrin|velintrin|msa\.h|lasx|lsx|larch|opencl|wasm|htm|ppc_|sifive|__clang_hip|builtins\.h$)")


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def copy(source, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy2(source, to)  # what a link points to
    os.chmod(to, 0o755 if os.access(source, os.X_OK) else 0o644)


def libraries_of(file):
    """Name and path of every library that the file loads, but the system's."""
    for line in run("ldd", file).splitlines():
        found = re.match(r"\s*(\S+) => (/\S+)", line)
        if found and not OF_SYSTEM.match(found[1]):
            yield found[1], found[2]


def fit(file, rpath):
    """An own copy of a file of others: its libraries are looked for in rpath first, and an older glibc will do."""
    run("strip", "--strip-unneeded", file)
    if elf.older(file):
        run("patchelf", "--add-needed", "libwarpbeam_glibc.so", file)
    run("patchelf", "--force-rpath", "--set-rpath", rpath, file)


def add_compiler(tree):
    tools, libraries = f"{tree}/lib/warpbeam/bin", f"{tree}/lib/warpbeam/lib"
    sources = {"clang-19": f"{LLVM}/bin/clang", "clang++-19": f"{LLVM}/bin/clang", "ld": "/usr/bin/ld.bfd", "ld.gold": "/usr/bin/ld.gold",
               "ar": "/usr/bin/ar", "addr2line": "/usr/bin/addr2line"}
    needed = {}
    for name, source in sources.items():
        needed.update(libraries_of(source))
        copy(source, f"{tools}/{name}")
        fit(f"{tools}/{name}", "$ORIGIN/../lib")
    for name, source in needed.items():
        copy(source, f"{libraries}/{name}")
        fit(f"{libraries}/{name}", "$ORIGIN")
    run("clang-19", "-shared", "-fPIC", "-O2", "-s", f"{HERE}/glibc.c", "-o", f"{libraries}/libwarpbeam_glibc.so", "-Wl,-soname,libwarpbeam_glibc.so")
    # clang reads its own headers beside itself.
    for source in glob.glob(f"{LLVM}/lib/clang/19/include/**", recursive=True):
        name = os.path.relpath(source, f"{LLVM}/lib/clang/19/include")
        if os.path.isfile(source) and not OTHERS.match(name):
            copy(source, f"{libraries}/clang/19/include/{name}")
    # OpenMP: where clang's linker looks, and where programs do.
    for to in (f"{libraries}/libomp.so", f"{tree}/lib/libomp.so.5"):
        if os.path.exists(f"{LLVM}/lib/libomp.so.5"):
            copy(f"{LLVM}/lib/libomp.so.5", to)
            fit(to, "$ORIGIN")


def add_headers(tree):
    sysroot = f"{tree}/lib/warpbeam/sysroot"
    gcc = max(glob.glob("/usr/lib/gcc/x86_64-linux-gnu/*/libstdc++.a"), key=lambda p: int(p.split("/")[-2])).rsplit("/", 1)[0]
    release = gcc.rsplit("/", 1)[1]
    for package in ("libc6-dev", "linux-libc-dev", "libcrypt-dev", f"libstdc++-{release}-dev"):
        for source in run("dpkg", "-L", package).split("\n"):
            if source.startswith("/usr/include/") and os.path.isfile(source):
                copy(source, sysroot + source)
    for name in ("crtbegin.o", "crtbeginS.o", "crtbeginT.o", "crtend.o", "crtendS.o", "libgcc.a", "libgcc_eh.a", "libgcc_s.so", "libstdc++.a"):
        copy(f"{gcc}/{name}", f"{sysroot}{gcc}/{name}")
    for name in ("crt1.o", "Scrt1.o", "rcrt1.o", "gcrt1.o", "crti.o", "crtn.o", "libc.so", "libc_nonshared.a", "libm.so", "libpthread.a", "libdl.a", "librt.a",
                 "libutil.a"):
        copy(f"{MULTIARCH}/{name}", f"{sysroot}{MULTIARCH}/{name}")
    # Programs are linked with these and run with the system's.
    for name in ("libc.so.6", "libm.so.6", "libmvec.so.1", "libgcc_s.so.1"):
        copy(f"/lib/x86_64-linux-gnu/{name}", f"{sysroot}/lib/x86_64-linux-gnu/{name}")
    copy("/lib64/ld-linux-x86-64.so.2", f"{sysroot}/lib64/ld-linux-x86-64.so.2")
    # The C++ library that is linked into programs asks for what older systems do not have.
    built = f"{sysroot}/older_glibc.o"
    run("clang-19", "-c", "-fPIC", "-O2", "-fvisibility=hidden", f"{HERE}/glibc.c", "-o", built)
    run("ar", "r", f"{sysroot}{gcc}/libstdc++.a", built)
    os.remove(built)


def add_host_libraries(tree):
    """OpenBLAS and FFTW beside ours, under names of their own."""
    ours = [f for f in glob.glob(f"{tree}/lib/libcu*.so") if not os.path.islink(f)]
    others = {}
    for file in ours:
        if open(file, "rb").read(4) == b"\x7fELF":
            others.update((n, p) for n, p in libraries_of(file) if not p.startswith(os.path.realpath(tree)))
    renamed = {name: name.replace("lib", "libwarpbeam_", 1) for name in others}
    for name, source in others.items():
        file = f"{tree}/lib/{renamed[name]}"
        copy(source, file)
        fit(file, "$ORIGIN")
        run("patchelf", "--set-soname", renamed[name], file)
        elf.own(file)
    for file in ours + [f"{tree}/lib/{name}" for name in renamed.values()]:
        if open(file, "rb").read(4) != b"\x7fELF":
            continue
        for name in run("patchelf", "--print-needed", file).split():
            if name in renamed:
                run("patchelf", "--replace-needed", name, renamed[name], file)


def add_starters(tree):
    """In the place of the programs what says that a system is too old."""
    starter = f"{tree}/bin/.start"
    run("clang-19", "-O2", "-fno-builtin", "-fno-stack-protector", "-nostartfiles", "-fPIE", "-pie", "-s", f"{HERE}/start.c", "-o", starter)
    for name in ("warpbeam", "nvidia-smi"):
        os.rename(f"{tree}/bin/{name}", f"{tree}/bin/{name}.program")
        copy(starter, f"{tree}/bin/{name}")
    os.remove(starter)


def main():
    tree = os.path.abspath(sys.argv[1])
    add_starters(tree)
    add_compiler(tree)
    add_headers(tree)
    add_host_libraries(tree)


if __name__ == "__main__":
    main()
