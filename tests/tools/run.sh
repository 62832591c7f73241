#!/usr/bin/env bash
# ncu, nvprof, nsys, compute-sanitizer and cuda-memcheck answer to what scripts call them with. Ends with "N passed, N failed".
set -u
here=$(cd -- "$(dirname -- "$0")" && pwd -P)
build=${WARPBEAM_BUILD:-$here/../../build/release}
build=$(cd -- "$build" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1
unset WARPBEAM_DEVICE WARPBEAM_DEVICES
PATH=$build/bin:$PATH
passed=0 failed=0

expect() { # name, status, extended regular expression for a line, command...
  local name=$1 status=$2 pattern=$3 got
  shift 3
  "$@" >out.txt 2>&1
  got=$?
  if [[ $got == "$status" ]] && grep -qE -- "$pattern" out.txt; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL %s: status %s, it prints\n' "$name" "$got"
    head -n 30 out.txt
  fi
}

cat >twice.cu <<'EOF'
#include <cstdio>
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
__global__ void other(int* x) { x[threadIdx.x] += 1; }
int main(int count, char** words) {
  int *x, status = 0;
  cudaMalloc(&x, 16);
  cudaMemset(x, 0, 16);
  twice<<<1, count > 1 && words[1][0] == 'w' ? 32 : 4>>>(x);
  other<<<1, 4>>>(x);
  status = cudaDeviceSynchronize() ? 3 : 0;
  cudaFree(x);
  std::printf("argument %s\n", count > 1 ? words[1] : "none");
  return status;
}
EOF
nvcc twice.cu -o twice || { echo '0 passed, 1 failed'; exit 1; }

for tool in ncu nvprof nsys compute-sanitizer cuda-memcheck; do
  expect "$tool --version" 0 "^$tool of Warpbeam [0-9]" "$tool" --version
  expect "$tool --help" 0 '^Usage: ' "$tool" --help
  expect "$tool without a program" 1 '^[a-z-]+: ' "$tool" $([[ $tool == nsys ]] && echo profile) --target-processes all
done
expect 'ncu: metrics of one kernel' 0 'launch__registers_per_thread' ncu --target-processes all -k twice --metrics launch__registers_per_thread ./twice
grep -q other out.txt && { echo 'FAIL ncu: another kernel'; failed=$((failed + 1)); }
expect 'ncu: the program has its arguments' 0 '^argument --csv$' ncu --set=basic -c 1 ./twice --csv
expect 'ncu: CSV' 0 '"twice' ncu --csv --metrics launch__registers_per_thread ./twice
expect 'ncu: a recording' 0 '^argument none' ncu -f -o found --set basic ./twice
expect 'ncu: which is read' 0 '<html' warpbeam report found.json --html -
expect 'ncu: a command' 0 'twice' ncu --set basic sh -c ./twice
expect 'ncu: an option that is not there' 1 '^ncu: the option --colour is not there' ncu --colour ./twice
expect 'nvprof: a summary' 0 'twice\(int' nvprof ./twice
expect 'nvprof: a trace' 0 'twice\(int' nvprof --print-gpu-trace ./twice
expect 'nvprof: a summary as CSV' 0 '^"GPU activities",[0-9.]+,[0-9.]+,[0-9]+,.*,"twice\(int' nvprof --csv ./twice
expect 'nvprof: the units of a trace as CSV' 0 '^ms,us,,,,,,,,KB,KB,MB,GB/s,,,,,,,$' nvprof --csv --print-gpu-trace ./twice
expect 'nvprof: a trace as CSV' 0 '^[0-9.]+,[0-9.]+,[0-9]+,1,1,[0-9]+,1,1,[0-9]+,[0-9.]+,[0-9.]+,,,,,"[^"]*",1,[0-9]+,"twice\(int[^"]*",[0-9]+$' nvprof --print-gpu-trace --csv ./twice
expect 'nvprof: calls as CSV' 0 '^[0-9.]+,[0-9.]+,"cudaLaunchKernel ' nvprof --print-api-trace --csv ./twice
expect 'nvprof: a metric' 0 'inst_executed' nvprof --metrics inst_executed ./twice
expect 'nsys: tables' 0 'twice\(int' nsys profile -t cuda,nvtx --stats=true ./twice
expect 'nsys: a file' 0 '^x\.sqlite$' nsys profile -o x -f true ./twice
expect 'nsys: what is not there' 1 "^nsys: 'stats'" nsys stats x.nsys-rep
expect 'compute-sanitizer: a program that is right' 0 '0 errors' compute-sanitizer ./twice
expect 'compute-sanitizer: one that is not, with its own status' 3 'Invalid __global__ (read|write)' compute-sanitizer --tool memcheck ./twice wrong
expect 'compute-sanitizer: on the standard output' 0 'ERROR SUMMARY: 1 error' sh -c 'compute-sanitizer ./twice wrong 2>/dev/null || true'
expect 'compute-sanitizer: in a file' 0 'ERROR SUMMARY: 1 error' sh -c 'compute-sanitizer --log-file found.txt ./twice wrong >/dev/null; cat found.txt'
expect 'compute-sanitizer: and with that' 9 'Invalid __global__ (read|write)' compute-sanitizer --error-exitcode=9 ./twice wrong
expect 'compute-sanitizer: races only' 0 '0 errors' compute-sanitizer --tool racecheck ./twice wrong
expect 'cuda-memcheck' 3 'Invalid __global__ (read|write)' cuda-memcheck ./twice wrong

# `run --` starts others' tools with an auditor, which must leave room for the thread variables of libraries that start with them (rustc's).
printf '__thread char room[24000] __attribute__((tls_model("initial-exec")));\nchar* place() { return room; }\n' >room.c
printf '#include <stdio.h>\nchar* place();\nint main() { return puts("started") < 0 || place()[7]; }\n' >user.c
clang-19 -shared -fPIC room.c -o libroom.so && clang-19 user.c -o user -L. -lroom -Wl,-rpath,"$work"
expect 'run: libraries with many thread variables' 0 '^started$' warpbeam run -- ./user
expect 'run: with what else is tuned' 0 '^glibc.malloc.check=0:glibc.rtld.optional_static_tls=' env GLIBC_TUNABLES=glibc.malloc.check=0 "$build/bin/warpbeam" run -- sh -c 'echo $GLIBC_TUNABLES'

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
