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
  expect 0 '^sum 20$' "$bin/warpbeam" run hello.cu -lcublas -lcufft
  nvvm_is_found "$bin/warpbeam"
  cat >use.py <<'EOF'
import ctypes, warpbeam
out = warpbeam.run(["nvidia-smi", "-L"], device="a100").stdout
assert "A100" in out, out
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
  # The cell magic, without IPython: what it is given and what it prints.
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
    "$bin/python" -m pip uninstall -q -y pytest iniconfig packaging pluggy pygments exceptiongroup tomli typing_extensions >/dev/null 2>&1
  fi
  "$bin/python" -m pip uninstall -q -y warpbeam
  find 'a venv' | grep -v '__pycache__' | sort >after.txt
  grep -v '__pycache__' before.txt | comm -13 - after.txt | grep -i warpbeam && return 1
  return 0
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
