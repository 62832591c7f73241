# The wheel, in virtual environments.
# Sourced by ../installed.
wheel_works() { # python
  command -v "$1" >/dev/null || { echo "there is no $1"; return 77; }
  "$1" -c 'import venv, ensurepip' || { echo "$1 makes no virtual environments"; return 77; }
  "$1" -m venv 'a venv'
  local bin="$PWD/a venv/bin"
  find 'a venv' | sort >before.txt
  timed 'pip install' "$bin/python" -m pip install -q --no-index "$wheel"
  cp "$work/hello.cu" "$work/bad.cu" .
  timed 'first program' "$bin/warpbeam" run "$root/examples/vector_add.cu"
  timed 'same again' "$bin/warpbeam" run "$root/examples/vector_add.cu"
  another_program
  timed 'another program' "$bin/warpbeam" run another.cu
  within 60 'pip install' 'first program'
  within 1 'same again'
  within 1 'another program'
  expect 0 '^sum 20$' "$bin/warpbeam" run hello.cu -lcublas -lcufft
  nvvm_is_found "$bin/warpbeam"
  cat >use.py <<'EOF'
import ctypes, warpbeam
out = warpbeam.run(["nvidia-smi", "-L"], device="a100").stdout
assert "A100" in out, out
out = warpbeam.run(["printf", r"\302\265 \377"]).stdout  # a letter, and no letter
assert out == "\xb5 \ufffd", out
cuda = ctypes.CDLL(warpbeam.library_path("cuda"))
count = ctypes.c_int()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value == 1
found = warpbeam.check("bad.cu")
assert not found.ok and found.findings, found.stderr
assert warpbeam.profile(["hello.cu", "-lcublas", "-lcufft"], set="exact").recording["launches"]
try:
    warpbeam.run("nothing.cu")
except warpbeam.Error as wrong:
    assert "nothing.cu" in str(wrong)
else:
    raise SystemExit("a source that is not there")
EOF
  "$bin/python" use.py
  LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 "$bin/python" use.py
  # The cell magic, without IPython (with it below): what it is given and what it prints.
  cat >cell.py <<'EOF'
import warpbeam
class Notebook:
    def register_magic_function(self, function, kind, name):
        assert (kind, name) == ("cell", "cuda")
        self.cuda = function
n = Notebook()
warpbeam.load_ipython_extension(n)
n.cuda("--device v100 -- 7", '#include <cstdio>\n#include <cstdlib>\nint main(int, char** v) { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); std::printf("%s %s\\n", p.name, v[1]); }')
n.cuda("--check", open("bad.cu").read())
EOF
  expect 0 '^Tesla V100.* 7$' "$bin/python" cell.py
  grep -q 'Invalid __global__ write' out.txt
  # A notebook that is killed leaves its cells, which the next compilation removes.
  mkdir tmp
  TMPDIR=$PWD/tmp "$bin/python" -c 'import os; from warpbeam import notebook; notebook._source("int x;"); os.kill(os.getpid(), 9)' || true
  compgen -G 'tmp/warpbeam.*/cell-*.cu'
  TMPDIR=$PWD/tmp "$bin/warpbeam" nvcc -c bad.cu -o bad.o
  [[ -z $(ls tmp) ]]
  if "$bin/python" -m pip install -q pytest >/dev/null 2>&1; then
    cat >test_device.py <<'EOF'
import ctypes, pytest
@pytest.mark.warpbeam
def test_device():
    cuda = ctypes.CDLL("libcuda.so.1")
    assert cuda.cuInit(0) == 0
    name = ctypes.create_string_buffer(100)
    assert cuda.cuDeviceGetName(name, 100, 0) == 0
    assert b"L4" in name.value
EOF
    expect 0 '1 passed' "$bin/python" -m pytest -q --warpbeam --warpbeam-device l4 test_device.py
    expect 0 '1 skipped' "$bin/python" -m pytest -q test_device.py
    if "$bin/python" -m pip install -q ipython >/dev/null 2>&1; then
      cat >notebook.py <<'EOF'
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
assert shell.run_cell("%load_ext warpbeam").success
assert shell.run_cell("%%cuda --device v100 -- 7\n#include <cstdio>\nint main(int, char** v) { std::printf(\"seven %s\\n\", v[1]); }").success
EOF
      expect 0 '^seven 7$' "$bin/python" notebook.py
    fi
    "$bin/python" -m pip uninstall -q -y pytest iniconfig packaging pluggy >/dev/null 2>&1
  fi
  "$bin/python" -m pip uninstall -q -y warpbeam
  find 'a venv' | grep -v '__pycache__' | sort >after.txt
  grep -v '__pycache__' before.txt | comm -13 - after.txt | grep -i warpbeam && return 1
  return 0
}

# A wheel of a version before this, with files that this one has not: an update takes them away, and nothing that the older one compiled is used.
an_older_wheel() {
  python3 - "$wheel" <<'EOF'
import sys, zipfile
version = sys.argv[1].split("/")[-1].split("-")[1]
with zipfile.ZipFile(sys.argv[1]) as new, zipfile.ZipFile(sys.argv[1].split("/")[-1].replace(version, "0.0.9"), "w") as old:
    for row in new.infolist():
        data = new.read(row)
        row.filename = row.filename.replace(f"warpbeam-{version}.dist-info", "warpbeam-0.0.9.dist-info")
        if row.filename.endswith("/METADATA"):
            data = data.replace(f"Version: {version}".encode(), b"Version: 0.0.9", 1)
        if row.filename.endswith("/RECORD"):
            data = data.replace(f"warpbeam-{version}.dist-info".encode(), b"warpbeam-0.0.9.dist-info") + b"warpbeam/gone.py,,\nwarpbeam/tree/include/gone.h,,\n"
        row.compress_type = zipfile.ZIP_STORED
        old.writestr(row, data)
    old.writestr("warpbeam/gone.py", "")
    old.writestr("warpbeam/tree/include/gone.h", "#define GONE 1\n")
EOF
}
wheel_updated() {
  python3 -m venv venv || { echo 'python3 makes no virtual environments'; return 77; }
  local bin=$PWD/venv/bin
  an_older_wheel
  which_version
  expect 0 '' "$bin/python" -m pip install -q --no-index ./warpbeam-0.0.9-*.whl
  expect 0 '^0.0.9$' "$bin/python" -c 'import warpbeam, warpbeam.gone; print(warpbeam.__version__)'
  expect 0 '^gone 1$' "$bin/warpbeam" run version.cu
  expect 0 'was cached' "$bin/warpbeam" run -v version.cu
  expect 0 '' "$bin/python" -m pip install -q --no-index "$wheel"
  expect 0 "^$(basename "$wheel" | cut -d- -f2)\$" "$bin/python" -c 'import warpbeam; print(warpbeam.__version__)'
  expect 0 '^gone 0$' "$bin/warpbeam" run version.cu
  [[ -z $(find venv -name 'gone*') ]]
  # And back: nothing of the newer one is used either.
  expect 0 '' "$bin/python" -m pip install -q --no-index ./warpbeam-0.0.9-*.whl
  expect 0 '^gone 1$' "$bin/warpbeam" run version.cu
  expect 0 '' "$bin/python" -m pip uninstall -q -y warpbeam
  [[ -z $(find venv -iname '*warpbeam*') ]]
}

# Triton compiles with the LLVM that it brings, and what it made runs in the same process with ours.
wheel_beside_triton() {
  python3 -m venv venv || { echo 'python3 makes no virtual environments'; return 77; }
  venv/bin/python -m pip install -q triton setuptools >/dev/null 2>&1 || { echo 'no packages can be fetched'; return 77; }
  venv/bin/python -m pip install -q --no-index "$wheel"
  cat >both.py <<'EOF'
import ctypes
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def twice(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def compiled():
    source = ASTSource(fn=twice, signature={"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, constexprs={"BLOCK": 128})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32))


def run(ptx, name, shared):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(function, *words):
        status = getattr(cuda, function)(*words)
        assert status == 0, (function, status)

    context, module, kernel, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    call("cuInit", 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
    call("cuModuleGetFunction", ctypes.byref(kernel), module, name.encode())
    count = 1 << 16
    values = (ctypes.c_float * count)(*range(count))
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.sizeof(values))
    call("cuMemcpyHtoD_v2", memory, values, ctypes.sizeof(values))
    n, none = ctypes.c_int32(count), ctypes.c_uint64(0)
    words = [memory, n, none, none]  # Triton's kernels have two more for its own use
    parameters = (ctypes.c_void_p * len(words))(*[ctypes.cast(ctypes.byref(w), ctypes.c_void_p) for w in words])
    call("cuLaunchKernel", kernel, count // 128, 1, 1, 128, 1, 1, shared, None, parameters, None)
    call("cuCtxSynchronize")
    call("cuMemcpyDtoH_v2", values, memory, ctypes.sizeof(values))
    assert values[:] == [2.0 * k for k in range(count)]


for _ in range(2):  # Triton's LLVM before ours has begun, and after
    made = compiled()
    run(made.asm["ptx"], made.metadata.name, made.metadata.shared)
maps = open("/proc/self/maps").read()
assert "libtriton" in maps and "libwarpbeam_jit" in maps, maps
print("both")
EOF
  expect 0 '^both$' env WARPBEAM_ENGINE=jit TRITON_CACHE_DIR="$PWD/triton" TRITON_ALWAYS_COMPILE=1 venv/bin/warpbeam run -- venv/bin/python both.py
}

# PyTorch in the same process: imported before a kernel of ours has run and after, with ours found by its path and by `warpbeam run`.
wheel_beside_torch() {
  . "$root/tests/clients/python/environment.sh"
  only_with_all '6 GB' || return
  local place WARPBEAM_PYTHON order
  WARPBEAM_PYTHON=$(python3 -c 'import sys; print(sys.executable)')
  python_environment torch torch==2.15.0 numpy==2.4.6 setuptools || return
  "$WARPBEAM_PYTHON" -m venv venv
  echo "$place"/lib/python3*/site-packages >"$(echo venv/lib/python3*/site-packages)/torch.pth"
  venv/bin/python -m pip install -q --no-index --no-deps "$wheel"
  cat >both.py <<'EOF'
import ctypes
import sys

PTX = b""".version 7.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 p) {
  .reg .b64 %x<3>; .reg .b32 %r<4>; .reg .f32 %f<2>;
  ld.param.u64 %x0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r0;
  mul.wide.u32 %x1, %r3, 4; add.s64 %x2, %x0, %x1; ld.global.f32 %f0, [%x2]; add.f32 %f1, %f0, %f0; st.global.f32 [%x2], %f1; ret;
}"""


def kernel():
    import warpbeam

    cuda = ctypes.CDLL("libcuda.so.1" if sys.argv[2] == "run" else warpbeam.library_path("cuda"))

    def call(function, *words):
        status = getattr(cuda, function)(*words)
        assert status == 0, (function, status)

    context, module, entry, memory, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_int()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxPushCurrent_v2", context)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(entry), module, b"twice")
    count = 1 << 16
    values = (ctypes.c_float * count)(*range(count))
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.sizeof(values))
    call("cuMemcpyHtoD_v2", memory, values, ctypes.sizeof(values))
    parameters = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p))
    call("cuLaunchKernel", entry, count // 128, 1, 1, 128, 1, 1, 0, None, parameters, None)
    call("cuCtxSynchronize")
    call("cuMemcpyDtoH_v2", values, memory, ctypes.sizeof(values))
    assert values[:] == [2.0 * k for k in range(count)]
    call("cuCtxPopCurrent_v2", ctypes.byref(context))


def torch_works():
    import torch

    a = torch.arange(10000.0, dtype=torch.float64).reshape(100, 100) / 10000
    b = a + torch.eye(100, dtype=torch.float64)
    torch.testing.assert_close(torch.linalg.solve(b, b @ a), a)
    torch.testing.assert_close(torch.fft.ifft(torch.fft.fft(a)).real, a)
    w = torch.randn(100, 100, requires_grad=True)
    (w @ w).sum().backward()
    assert w.grad is not None
    if sys.argv[2] == "run":
        assert torch.cuda.is_available()
        torch.testing.assert_close((a.cuda() @ a.cuda()).cpu(), a @ a)


for what in {"torch": (torch_works, kernel), "kernel": (kernel, torch_works)}[sys.argv[1]] * 2:
    what()
maps = open("/proc/self/maps").read()
assert "libtorch_cpu" in maps and "libwarpbeam_jit" in maps, maps
print("both")
EOF
  for order in torch kernel; do
    expect 0 '^both$' env WARPBEAM_ENGINE=jit venv/bin/python both.py "$order" path
    expect 0 '^both$' env WARPBEAM_ENGINE=jit venv/bin/warpbeam run -- venv/bin/python both.py "$order" run
  done
}

# README's first line for pip, in a folder as a user has it.
readme_pip() {
  python3 -m venv venv || { echo 'python3 makes no virtual environments'; return 77; }
  . venv/bin/activate
  pip download -q -d fetched pytest >/dev/null 2>&1 || { echo 'no packages can be fetched'; return 77; }
  cp "$wheel" .
  cp "$root/examples/vector_add.cu" saxpy.cu
  printf 'import ctypes\ndef test_device():\n    assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0\n' >test_device.py
  local line
  line=$(sed -n 's/^\$ \(pip install .*\)/\1/p' "$root/README.md")
  [[ -n $line ]]
  expect 0 '1 passed' bash -ec "$line"
  grep -q 'all correct' out.txt
}
