#!/usr/bin/env bash
# Builds, runs, compilations of kernels, writes to the caches and recordings that are killed (SIGKILL) at random moments: the next run is right, whatever was
# left. Ends with `N passed, N failed`.
#   tests/killed/run.sh [how many] [seed]     40 (with --fast 8) if not told otherwise; a failure prints the seed
set -u
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam
kills=${1:-${WARPBEAM_FAST:+8}}
kills=${kills:-40}
seed=${2:-$RANDOM}
RANDOM=$seed
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-killed.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1
unset WARPBEAM_DEVICE WARPBEAM_ENGINE WARPBEAM_TOOL WARPBEAM_TOOL_OPTIONS
export XDG_CACHE_HOME=$work/cache TMPDIR=$work/tmp
mkdir -- "$TMPDIR"
passed=0 failed=0

write_source() { # number: a program that is another one for each number, with a kernel that is worth compiling
  cat >k.cu <<CU
#include <cstdio>
__global__ void sums(unsigned* out, int n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, s = $1;
  for (int i = 0; i < n; ++i) s += x ^ i;
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
int main() {
  unsigned *d, h[1024], all = 0;
  cudaMalloc(&d, sizeof h);
  for (int k = 0; k < 20; ++k) sums<<<8, 128>>>(d, 200);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  for (unsigned v : h) all += v;
  std::printf("%u\n", all - 1024u * $1);
}
CU
}
write_source 0
right=$(timeout 120 "$warpbeam" run k.cu) || { echo "0 passed, 1 failed"; exit 1; }

# What is killed, and what must then be right: words of the command line.
for ((k = 0; k < kills; ++k)); do
  ((k % 3)) || write_source "$((k + 1))"  # the first of three compiles, the others find parts of that in the caches
  case $((RANDOM % 4)) in
    0) command=(run --engine jit k.cu) ;;
    1) command=(run k.cu) ;;
    2) command=(profile --json recording.json k.cu) ;;
    3) command=(nvcc k.cu -o k) ;;
  esac
  moment=$((RANDOM % 1200))
  setsid "$warpbeam" "${command[@]}" >out 2>&1 </dev/null &
  group=$!
  sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
  kill -KILL -- "-$group" 2>/dev/null
  wait "$group" 2>/dev/null
  why=
  case ${command[0]} in
    nvcc) timeout 120 "$warpbeam" nvcc k.cu -o k >log 2>&1 && got=$(timeout 60 ./k 2>>log) ;;
    profile)
      # A recording is there in full or not at all.
      [[ ! -e recording.json ]] || "$warpbeam" report recording.json --html page.html >log 2>&1 || why="the recording is damaged: $(tail -n 1 log)"
      got=$(timeout 120 "$warpbeam" run --engine jit k.cu 2>log)
      ;;
    *) got=$(timeout 120 "$warpbeam" "${command[@]}" 2>log) ;;
  esac
  [[ $got == "$right" ]] || why="'$got' instead of '$right': $(tail -n 1 log)"
  if [[ -z $why ]]; then
    ((++passed))
  else
    ((++failed))
    echo "FAIL ${command[*]} killed after $moment ms (the ${k}th of seed $seed): $why"
  fi
done

# Killed while it writes (SIGXFSZ: the file may not grow so long), it leaves what was there before.
"$warpbeam" profile --set basic --json recording.json k.cu >log 2>&1
echo before >page.html
(ulimit -f 16 && "$warpbeam" report recording.json --html page.html) >log 2>&1 </dev/null
if [[ $(head -c 100 page.html) == before ]] && "$warpbeam" report recording.json --html page.html >log 2>&1 && grep -q '</html>' page.html; then
  ((++passed))
else
  ((++failed))
  echo "FAIL a page that was written halfway: $(head -c 40 page.html), $(tail -n 1 log)"
fi

# What the killed ones left is removed by the next that makes a temporary folder, while those of others that run stay.
write_source other
sed -i '1i #include "slow.h"' k.cu
mkfifo slow.h
timeout 120 "$warpbeam" nvcc -c k.cu -o slow.o >out 2>&1 </dev/null &
slow=$!
for ((k = 0; k < 500; ++k)); do compgen -G "$TMPDIR/warpbeam.*/*" >/dev/null && break; sleep 0.01; done
setsid "$warpbeam" nvcc -c k.cu -o killed.o >killed.log 2>&1 </dev/null &
group=$!
for ((k = 0; k < 500; ++k)); do (($(compgen -G "$TMPDIR/warpbeam.*" | wc -l) > 1)) && break; sleep 0.01; done
kill -KILL -- "-$group"
wait "$group" 2>/dev/null
before=$(ls "$TMPDIR" | wc -l)
echo >now.cu
"$warpbeam" nvcc -c now.cu -o now.o >log 2>&1
after=$(ls "$TMPDIR" | wc -l)
if ((before > 1 && after == 1)); then
  ((++passed))
else
  ((++failed))
  echo "FAIL temporary folders: $before before and $after after the next compilation, $(ls -d "$TMPDIR"/* | head -n 3 | paste -sd ' ')"
fi
kill "$slow"
wait "$slow"
echo "$passed passed, $failed failed"
((failed == 0))
