#!/usr/bin/env bash
# Textures against an H200. values.cu samples in every mode, calls.cu asks what functions return; beside them stand the
# recordings, made with the vendor's compiler (nvcc -arch=sm_90) and run on the GPU. differences.txt lists the cases that
# are known to differ. Usage: run.sh [filter]; ends with "N passed, N failed".
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam
filter=${1:-}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
passed=0 failed=0
fail() { failed=$((failed + 1)); echo "fail $1"; }

timeout 300 "$warpbeam" run -O2 "$here/values.cu" -- ${filter:+"$filter"} >"$work/values" 2>"$work/errors" || { fail values.cu; tail -n 5 "$work/errors"; }
declare -A ours known
while read -r name digest _; do ours[$name]=$digest; done <"$work/values"
while read -r name _; do [[ $name == \#* || -z $name ]] || known[$name]=1; done <"$here/differences.txt"
while read -r name digest rest; do
  [[ $name == *"$filter"* ]] || continue
  if [[ ${ours[$name]:-} == "$digest" ]]; then
    if [[ ${known[$name]:-} ]]; then fail "$name: no longer a difference"; else passed=$((passed + 1)); fi
  elif [[ ${known[$name]:-} && ${ours[$name]:-} ]]; then
    passed=$((passed + 1))
  else
    fail "$name: the GPU has"
    echo "     $rest" | cut -c1-150
    grep -F "$name " "$work/values" | cut -d' ' -f3- | cut -c1-150 | sed 's/^/     /'
  fi
done <"$here/values_h200.txt"

# Block-compressed formats are not supported here.
without_blocks() { grep -v BlockCompressed "$1" | grep -vE 'kind (17|29)}' ; }
timeout 300 "$warpbeam" run "$here/calls.cu" >"$work/calls" 2>"$work/errors" || { fail calls.cu; tail -n 5 "$work/errors"; }
if diff <(without_blocks "$here/calls_h200.txt" | grep -vE '^  (requirements|sparse|plane)') <(without_blocks "$work/calls" | grep -vE '^  (requirements|sparse|plane)') >"$work/diff"; then
  passed=$((passed + 1))
else
  fail "calls.cu: < the GPU, > here"
  head -n 20 "$work/diff"
fi
echo "$passed passed, $failed failed"
((failed == 0))
