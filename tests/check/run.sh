#!/usr/bin/env bash
# Planted mistakes and correct look-alikes: every mistake must be found, with its kind and its line, and nothing else.
# A line of a source that is wrong carries `expect CASE KIND`; `warn CASE KIND` is a warning. Ends with `N passed, N failed`.
#
#   tests/check/run.sh [filter …]    a filter is a part of FILE/CASE
set -u
root=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)
build=${WARPBEAM_BUILD:-$root/build/release}
warpbeam=$build/bin/warpbeam
cd -- "$root/tests/check" || exit 1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
passed=0 failed=0

wanted() {
  (($#)) || return 1
  local name=$1 f
  shift
  (($#)) || return 0
  for f in "$@"; do [[ $name == *"$f"* ]] && return 0; done
  return 1
}

# What a case needs here is one process: over them all, verdicts.awk then gives the verdicts at once.
run_case() { # source, case
  local place=$work/$1.$2
  # What is read after it was freed, or before it was written, is not what it was by chance.
  MALLOC_PERTURB_=165 timeout 120 "$warpbeam" check --json "$place.json" $options "$1" -- "$2" >"$place.log" 2>&1 </dev/null
  echo $? >"$place.status"
}

jobs=$(nproc)
files=0
for source in *.cu; do
  # The fast tests take every third file, and of that every twenty-fourth case.
  if [[ -n ${WARPBEAM_FAST:-} ]] && (($# == 0 && files++ % 3)); then continue; fi
  options=$(sed -nE 's,^// options: (.*),\1,p' "$source" | head -n 1)
  # As a program of the checker's, which the cases then find compiled.
  # shellcheck disable=SC2086
  names=$("$warpbeam" check $options "$source" 2>"$work/names.log")
  if [[ -z $names ]]; then
    printf 'FAIL %s: %s\n' "$source" "$(tail -n 3 "$work/names.log")"
    failed=$((failed + 1))
    continue
  fi
  count=0 running=0 ran=()
  for name in $names; do
    wanted "$source/$name" "$@" || continue
    if [[ -n ${WARPBEAM_FAST:-} ]] && (($# == 0 && count++ % 24)); then continue; fi
    ran+=("$name")
    if ((running == jobs)); then wait -n; else running=$((running + 1)); fi
    run_case "$source" "$name" &
  done
  wait
  ((${#ran[@]})) || continue
  printf '%s\n' "${ran[@]}" | awk -v source="$source" -v folder="$work" -f verdicts.awk >"$work/verdicts"
  grep '^FAIL' "$work/verdicts"
  read -r p f < <(tail -n 1 "$work/verdicts")
  # A case without a verdict has failed.
  passed=$((passed + p)) failed=$((failed + ${#ran[@]} - p))
  ((p + f == ${#ran[@]})) || echo "FAIL $source: verdicts of $((p + f)) of its ${#ran[@]} cases"
done
# Correct programs of other folders: all examples but those that are about mistakes.
clean=(../tests/programs/large_tiles)
for source in "$root"/examples/*.cu; do
  name=$(basename -- "$source" .cu)
  [[ $name == error_handling || $name == printf_and_assert ]] || clean+=("$name")
done
[[ -n ${WARPBEAM_FAST:-} ]] && clean=(fences reduce_harris)
clean_case() { # example: writes its verdict
  local build out=$work/clean.$(basename -- "$1")
  build=$(head -n 6 -- "$root/examples/$1.cu" | sed -nE 's,^// build: (.*),\1,p' | head -n 1)
  # shellcheck disable=SC2086
  (cd -- "$root/examples" && timeout 120 "$warpbeam" check $build "$1.cu") >"$out.log" 2>&1 </dev/null
  if grep -q '^========= ERROR SUMMARY: 0 errors' "$out.log"; then
    echo ok >"$out.result"
  else
    printf 'FAIL clean/%s: %s\n' "$1" "$(grep '^=========' "$out.log" | head -n 4 | tr '\n' ' ')" >"$out.result"
  fi
}
for name in "${clean[@]}"; do
  wanted "clean/$name" "$@" || continue
  clean_case "$name" &
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
done
wait
for result in "$work"/clean.*.result; do
  [[ -e $result ]] || continue
  if [[ $(<"$result") == ok ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); cat -- "$result"; fi
done
# What is found does not depend on the number of host threads.
for case in global_races.cu/histogram_plain shared_races.cu/reduction_unsynced heap.cu/list_deleted_badly nested.cu/children_apart lanes.cu/sum_of_twenty; do
  wanted "threads/$case" "$@" || continue
  [[ -n ${WARPBEAM_FAST:-} && $case != shared_races* ]] && continue
  for threads in 1 5; do
    WARPBEAM_THREADS=$threads timeout 120 "$warpbeam" check --json - "${case%/*}" -- "${case#*/}" >"$work/threads.$threads" 2>/dev/null </dev/null
  done
  if [[ -s $work/threads.1 ]] && cmp -s "$work/threads.1" "$work/threads.5"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL threads/%s: the findings differ\n' "$case"
  fi
done
# One mistake is one finding, whatever it is seen as: both orders of two accesses, instantiations of a template, steps of a tail.
folded() { # file, words for the program, summary, a line of the report
  wanted "folded/${1##*/}" "${filters[@]}" || return
  # shellcheck disable=SC2086
  timeout 120 "$warpbeam" check "$1" -- $2 >"$work/folded.log" 2>&1 </dev/null
  if grep -qF "ERROR SUMMARY: $3" "$work/folded.log" && grep -qF "$4" "$work/folded.log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL folded/%s: %s\n' "${1##*/}" "$(grep 'ERROR SUMMARY' "$work/folded.log")"
  fi
}
filters=("$@")
folded shared_races.cu stencil_one_barrier '1 error' 'hazards]'
folded global_races.cu turned_by_blocks '2 errors' 'blocks are not ordered'
folded places.cu scaled_beside '1 error' 'hazards]'
folded places.cu chosen_template '1 error' 'called by void puts_all<int, 0>(int *) in places.cu'
folded ../../examples/reduce_harris.cu 12 '0 errors (3 warnings)' '3 other instantiations of reduce6, reduce7 (4 instantiations)'
# What a report says of the place and of the reason.
folded memory.cu index_below_zero '1 error' 'an unsigned index leads that has gone below zero, 4 bytes before the allocation at'
folded memory.cu misaligned_int '1 error' 'is byte 1 of the allocation at'
folded host.cu too_many_threads '1 error' 'its blocks are (2048, 1, 1): each number must be 1 at least'
folded hostapi.cu too_much_shared '1 error' 'bytes of dynamic shared memory, and this kernel may have 49152'
folded nested.cu child_of_own_array '1 error' "lies in a thread's local memory"
folded heap.cu virtual_of_host '1 error' 'an object with virtual functions must be made in a kernel'
folded global_races.cu grid_launched_apart '1 error' 'a kernel that cudaLaunchCooperativeKernel has not launched'
# A rule for a race as it is told leaves none of it.
if wanted suppressed "$@"; then
  echo 'kind=race_war kernel=turned_in_one_place' >"$work/rules"
  timeout 120 "$warpbeam" check --suppressions "$work/rules" global_races.cu -- turned_by_blocks >"$work/suppressed.log" 2>&1 </dev/null
  if grep -qF '2 findings were suppressed' "$work/suppressed.log" && grep -qF 'ERROR SUMMARY: 1 error' "$work/suppressed.log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL suppressed: %s\n' "$(tail -n 2 "$work/suppressed.log" | tr '\n' ' ')"
  fi
fi
# What follows an executable is for it, even where it looks like an option of the checker.
if wanted executable "$@"; then
  printf '%s\n' '#include <cstdio>' 'int main(int n, char** words) { for (int k = 1; k < n; ++k) std::printf("%s ", words[k]); cudaDeviceSynchronize(); }' >"$work/words.cu"
  "$warpbeam" nvcc -o "$work/words" "$work/words.cu" </dev/null
  if [[ $("$warpbeam" check "$work/words" -f --json -- x 2>/dev/null) == '-f --json -- x ' && $("$warpbeam" check "$work/words" -- --json 2>/dev/null) == '--json ' ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo 'FAIL executable: its arguments do not reach it'
  fi
fi
# Blocks take turns: threads that wait for theirs take no processor time from the others.
if wanted idle "$@"; then
  cat >"$work/idle.cu" <<'end'
#include <cstdio>
#include <ctime>
__global__ void sums(int* out, int n) {
  __shared__ int part[256];
  part[threadIdx.x] = 0;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    part[threadIdx.x] += k;
  }
  out[blockIdx.x * 256 + threadIdx.x] = part[threadIdx.x];
}
double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
int main() {
  int* out;
  cudaMalloc(&out, 64 * 256 * sizeof(int));
  double least = 1e9;
  for (int k = 0; k < 3; ++k) {
    const double processors = seconds(CLOCK_PROCESS_CPUTIME_ID), begin = seconds(CLOCK_MONOTONIC);
    sums<<<64, 256>>>(out, 200);
    cudaDeviceSynchronize();
    const double used = (seconds(CLOCK_PROCESS_CPUTIME_ID) - processors) / (seconds(CLOCK_MONOTONIC) - begin);
    least = used < least ? used : least;
  }
  std::printf("%.2f\n", least);
  cudaFree(out);
}
end
  WARPBEAM_ENGINE=jit WARPBEAM_THREADS=2 timeout 120 "$warpbeam" check "$work/idle.cu" >"$work/idle.used" 2>"$work/idle.log" </dev/null
  if awk 'NR == 1 { exit !($1 > 0 && $1 < 1.3) }' "$work/idle.used"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL idle: a launch takes $(head -n 1 "$work/idle.used") processors"
  fi
fi
# Time in which the process was stopped is no time in which a block waited in vain.
if wanted stopped "$@"; then
  cat >"$work/stopped.cu" <<'end'
#include <unistd.h>
#include <cstdio>
#include <ctime>
__device__ int flag;
__global__ void waits() {
  while (!atomicAdd(&flag, 0)) {}
}
__global__ void sets() { atomicExch(&flag, 1); }
int main() {
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  waits<<<1, 1, 0, one>>>();
  printf("%d\n", getpid());
  fflush(stdout);
  for (int k = 0; k < 10; ++k) {
    timespec tenth{0, 100000000};
    nanosleep(&tenth, nullptr);
  }
  sets<<<1, 1, 0, other>>>();
  cudaDeviceSynchronize();
  cudaStreamDestroy(one);
  cudaStreamDestroy(other);
}
end
  WARPBEAM_HANG_SECONDS=4 timeout 120 "$warpbeam" check "$work/stopped.cu" >"$work/stopped.out" 2>"$work/stopped.log" </dev/null &
  for _ in {1..600}; do
    { read -r program <"$work/stopped.out"; } 2>/dev/null && break
    sleep 0.1
  done
  kill -STOP $program
  sleep 5
  kill -CONT $program
  if wait %% && ! grep -q deadlock "$work/stopped.log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL stopped: blocks that wait while the process is stopped count as waiting in vain"
  fi
fi
# They take them in the grid's order, in whichever thread: which of several hazards is told is then always the same.
if wanted turns "$@"; then
  cat >"$work/turns.cu" <<'end'
#include <cstdio>
__device__ int next;
__global__ void take_turns(int* turn) {
  if (threadIdx.x == 0) turn[blockIdx.x] = atomicAdd(&next, 1);
}
int main() {
  constexpr int kBlocks = 64;
  const int zero = 0;
  int turns[kBlocks], *device, disordered = 0;
  cudaMalloc(&device, sizeof turns);
  for (int launch = 0; launch < 200; ++launch) {
    cudaMemcpyToSymbol(next, &zero, sizeof zero);
    take_turns<<<kBlocks, 64>>>(device);
    cudaMemcpy(turns, device, sizeof turns, cudaMemcpyDeviceToHost);
    for (int block = 0; block < kBlocks; ++block) disordered += turns[block] != block;
  }
  cudaFree(device);
  std::printf("%d disordered\n", disordered);
}
end
  WARPBEAM_ENGINE=jit WARPBEAM_THREADS=2 timeout 120 "$warpbeam" check "$work/turns.cu" >"$work/turns.log" 2>&1 </dev/null
  if grep -q '^0 disordered' "$work/turns.log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL turns: blocks that take turns are not in order: $(grep disordered "$work/turns.log")"
  fi
fi
# The rounds of a loop in a graph follow each other at once: none waits for what can only begin behind it.
if wanted rounds "$@"; then
  printf '#include "%s"\n' "$root/examples/graph_conditional.cu" >"$work/rounds.cu"
  "$warpbeam" nvcc -o "$work/rounds" "$work/rounds.cu" </dev/null  # 111 rounds, which took 600 ms each
  if timeout 30 "$warpbeam" check "$work/rounds" 2>&1 </dev/null | grep -q '^========= ERROR SUMMARY: 0 errors'; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo 'FAIL rounds: a loop in a graph takes long'
  fi
fi
# A program that was checked before starts without the compiler.
if wanted cached "$@"; then
  mkdir -p -- "$work/tools" "$work/cache"
  printf '#!/bin/sh\necho asked >>%q\nexec %q "$@"\n' "$work/asked" "$(command -v clang++-19)" >"$work/tools/clang++-19"
  chmod +x -- "$work/tools/clang++-19"
  printf '%s\n' '__global__ void none() {}' 'int main() { none<<<1, 1>>>(); return cudaDeviceSynchronize(); }' >"$work/none.cu"
  for time in first second; do
    PATH=$work/tools:$PATH XDG_CACHE_HOME=$work/cache "$warpbeam" check "$work/none.cu" >"$work/cached.$time" 2>&1 </dev/null
    wc -l <"$work/asked" >"$work/asked.$time"
  done
  : >"$work/asked"
  PATH=$work/tools:$PATH XDG_CACHE_HOME=$work/cache.of.run "$warpbeam" run "$work/none.cu" </dev/null
  wc -l <"$work/asked" >"$work/asked.by.run"
  if [[ -s $work/cached.first ]] && cmp -s "$work/cached.first" "$work/cached.second" && cmp -s "$work/asked.first" "$work/asked.second"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo 'FAIL cached: a second check asked the compiler again'
  fi
  # What the checker wants to know of a source, the passes tell that make the program.
  if cmp -s "$work/asked.first" "$work/asked.by.run"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL cached: a check asked the compiler $(<"$work/asked.first") times, a run $(<"$work/asked.by.run") times"
  fi
fi
# The compiler's messages are those of a run; what it is not to say, and what would then be an error, is found all the same.
if wanted messages "$@"; then
  cat >"$work/messages.cu" <<'end'
[[nodiscard]] int mine() { return 1; }
__global__ void use(int* out, int n) {
  int some, none;
  if (n > 3) some = 2;
  out[0] = some + none;
}
int main() {
  mine();
  use<<<1, 1>>>(nullptr, 0);
  cudaMalloc(nullptr, 1);
}
end
  for words in run 'run -Xcompiler -Wall' check 'check -Xcompiler -Wall'; do
    # shellcheck disable=SC2086
    timeout 120 "$warpbeam" $words "$work/messages.cu" 2>&1 </dev/null | grep -v '^=========' >"$work/messages.${words// /}"
  done
  timeout 120 "$warpbeam" check -w -Werror all-warnings "$work/messages.cu" >"$work/messages.none" 2>&1 </dev/null
  found() { grep -qF "$1" "$work/messages.none"; }
  if grep -q '^1 warning gen' "$work/messages.run" && grep -q '^3 warnings gen' "$work/messages.run-Xcompiler-Wall" && cmp "$work/messages.run" "$work/messages.check" &&
    cmp "$work/messages.run-Xcompiler-Wall" "$work/messages.check-Xcompiler-Wall" && ! found 'warning: ' && found "variable 'none'" && found "Variable 'some' may" && found 'no later call looked'; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL messages: the compiler or the checker says something else"
    tail -n 30 -- "$work"/messages.run* "$work"/messages.check* "$work/messages.none"
  fi
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
