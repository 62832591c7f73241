#!/usr/bin/env bash
# What makes one build run everywhere, looked for in the build itself: which libraries and symbol versions its files ask for, what they
# show, what a processor without AVX2 is told. Ends with "N passed, N failed". `./warpbeam test --packages` installs packages and uses them.
set -u
here=$(cd -- "$(dirname -- "$0")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
build=${WARPBEAM_BUILD:-$root/build/release}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
passed=0 failed=0

check() { # what was looked at, what is wrong with it (nothing: all is well)
  if [[ -z $2 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL %s: %s\n' "$1" "$2"
  fi
}

# --- files
files=("$build/bin/warpbeam" "$build/bin/nvidia-smi")
for file in "$build"/lib/lib*.so "$build"/lib/lib*.so.*; do
  [[ ! -L $file && $(head -c 4 -- "$file") == $'\x7fELF' ]] && files+=("$file")
done
if ! grep -q '^WARPBEAM_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
  for file in "${files[@]}"; do
    name=${file##*/}
    # 2.34 is the oldest glibc that is supported.
    newer=$(objdump -T "$file" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | awk -F. '$2 > 34' | tr '\n' ' ')
    check "$name runs with glibc 2.34" "${newer:+it asks for $newer}"
    [[ $name == libwarpbeam_lowering.so ]] && continue  # part of clang, which brings a C++ library
    needed=$(objdump -p "$file" | awk '/NEEDED/ { print $2 }' | grep -E 'libstdc|libfmt|libLLVM|libzstd|libz\.' | tr '\n' ' ')
    check "$name brings its C++ library" "${needed:+it asks for $needed}"
    shown=$(nm -D --defined-only "$file" | awk '$2 ~ /[A-Z]/ { print $3 }' | grep '^_Z' | grep -vE '^_ZNK?8warpbeam' | head -n 3 | tr '\n' ' ')
    [[ $name == *.so ]] && check "$name hides it" "${shown:+it shows $shown}"
  done
fi
check 'nothing but LLVM in libwarpbeam_jit.so asks for it' "$(nm -D --defined-only "$build/lib/libwarpbeam_jit.so" | grep -i llvm | head -n 3)"

# --- Python 3.8 reads the module
for file in "$root"/package/python/warpbeam/*.py; do
  check "${file##*/} is Python 3.8" "$(python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))' "$file" 2>&1 | tail -n 1)"
done

# --- a processor without AVX2
refused() { # name, command...
  local name=$1 status
  shift
  WARPBEAM_CPU=x86-64-v2 "$@" >"$work/out" 2>&1
  status=$?
  local wrong=
  [[ $status == 1 && $(wc -l <"$work/out") == 1 ]] && grep -q 'no AVX2' "$work/out" || wrong="status $status, $(head -c 300 "$work/out")"
  check "$name on a processor without AVX2" "$wrong"
}
cat >"$work/count.cu" <<'EOF'
#include <cstdio>
int main() { int n = 0; cudaGetDeviceCount(&n); std::printf("%d\n", n); }
EOF
refused 'the driver' "$build/bin/warpbeam" devices
if "$build/bin/warpbeam" nvcc "$work/count.cu" -o "$work/count" && [[ $("$work/count") == 1 ]]; then
  refused 'a program' "$work/count"
else
  check 'a program' 'it cannot be compiled or does not run'
fi

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
