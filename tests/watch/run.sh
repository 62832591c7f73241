#!/usr/bin/env bash
# Compiled code that is watched tells what the interpreter tells: the profiler's numbers and the checker's findings are the
# same to the last digit. Ends with `N passed, N failed`.
#   tests/watch/run.sh [filter]    a part of MODE/PROGRAM
set -u
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam
filter=${1:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-watch.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1
unset WARPBEAM_DEVICE WARPBEAM_TOOL WARPBEAM_TOOL_OPTIONS WARPBEAM_RECORDING
export WARPBEAM_NOTES=1 WARPBEAM_THREADS=1
passed=0 failed=0

# The same program by both engines. Without a compiled kernel nothing would be compared.
same() { # mode, source, words …
  local mode=$1 source=$2 engine status=()
  shift 2
  for engine in interpreter jit; do
    local command=(profile --set exact --csv "$engine.result")
    [[ $mode == check ]] && command=(check --json "$engine.result")
    [[ $mode == json ]] && command=(profile --json "$engine.result")
    rm -f "$engine.result"
    WARPBEAM_ENGINE=$engine timeout 120 "$warpbeam" "${command[@]}" "$source" -- "$@" >"$engine.log" 2>&1 </dev/null
    status+=($?)
  done
  # The timeline is in nanoseconds of this computer, and its numbers of operations count how often a program asks for them.
  [[ $mode == json ]] && sed -i 's/,"timeline":.*//; s/"operation":[0-9]*,//g' interpreter.result jit.result
  grep -q 'compiled in' jit.log || { echo "    nothing was compiled"; tail -n 3 jit.log; return 1; }
  [[ ${status[0]} == "${status[1]}" ]] || { echo "    exit status ${status[*]}"; tail -n 3 jit.log; return 1; }
  cmp interpreter.result jit.result || return 1
}

check() { # mode, source, words …
  local name=$1/$(basename "$2" .cu)${3:+ $3}
  [[ $name == *"$filter"* ]] || return 0
  if same "$@" >why 2>&1; then
    ((++passed))
  else
    ((++failed))
    printf 'FAIL %s\n' "$name"
    cat why
  fi
}

examples=(matrix_multiply transpose_shared reduce_harris scan_block shuffle warp_divergence histogram)
programs=(bfs control_flow block_patterns)
if [[ -n ${WARPBEAM_FAST:-} ]]; then examples=(reduce_harris) programs=(); fi
for mode in profile check; do
  for name in "${examples[@]}"; do check $mode "$root/examples/$name.cu"; done
  for name in "${programs[@]}"; do check $mode "$root/tests/programs/$name.cu"; done
done
check json "$root/examples/reduce_shared.cu"
check check "$root/tests/check/shared_races.cu" reduction_unsynced
for name in padded into_padding forgotten_row no_second_barrier; do check check "$root/tests/check/settled.cu" $name; done
for name in sums unset_input short_output one_output overlap scan_in_place; do check check "$root/tests/check/patterns.cu" $name; done
for name in strides rows members lines chosen counted; do check profile "$root/tests/check/neighbours.cu" $name; done
neighbours=(stencil_in_place bytes_shared counter_read_early)
[[ -z ${WARPBEAM_FAST:-} ]] && neighbours+=(stencil no_barrier_behind low_bytes bytes_apart counter counter_of_nothing counter_set_late scope_of_block bins_unset bins_at_once last_block last_without_fence strides)
for name in "${neighbours[@]}"; do check check "$root/tests/check/neighbours.cu" "$name"; done
if [[ -z ${WARPBEAM_FAST:-} ]]; then
  check json "$root/examples/transpose_global.cu"
  check check "$root/tests/check/shared_races.cu" reduction_synced
  check check "$root/tests/check/lanes.cu" sum_of_twenty
  check check "$root/tests/check/global_races.cu" histogram_plain
fi
echo "$passed passed, $failed failed"
((failed == 0))
