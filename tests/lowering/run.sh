#!/usr/bin/env bash
# What device code looks like behind clang's device pass, and what the plugin says of a source: each file here says in its first lines how it is
# compiled and what is expected (tests/cases.sh has the words). Usage: run.sh [filter]; ends with "N passed, N failed, N skipped".
set -u
# shellcheck source=../cases.sh
. "${BASH_SOURCE[0]%/*}/../cases.sh"
[[ -e $build/lib/libwarpbeam_lowering.so ]] || { echo '0 passed, 0 failed, 1 skipped'; exit 0; }
export XDG_CACHE_HOME=$work/cache
unset WARPBEAM_DEVICE WARPBEAM_ENGINE NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
warpbeam() { "$build/bin/warpbeam" "$@"; }
nvcc() { warpbeam nvcc "$@"; }

# Its results are put away where nobody optimises, and nowhere else.
case_functions_with_thousands_of_calls_are_left_as_they_are() {
  local k
  calls() { printf 'int g(int); int f() {\n'; for ((k = 0; k < $1; ++k)); do echo "int v$k = g($k);"; done; printf 'return 0; }\n__global__ void k() {}\n'; }
  calls 2900 >e.cu && expect 0 nvcc -c e.cu && objdump -d e.o >short && ! grep -qE 'mov +%eax,-0x[0-9a-f]+\(%r[bs]p\)' short &&
    calls 3100 >e.cu && expect 0 nvcc -O3 -c e.cu && objdump -d e.o >long && grep -qE 'mov +%eax,(-0x[0-9a-f]+\(%rbp\)|0x[0-9a-f]+\(%rsp\))' long
}

run_cases "${1:-}" "$here"/*.cu
