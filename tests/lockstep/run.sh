#!/usr/bin/env bash
# `warpbeam run --lockstep` on programs whose kernels must do the same on both engines. Ends with `N passed, N failed`.
set -u
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam
passed=0 failed=0
for example in vector_add reduce_shared transpose_shared; do
  if output=$(timeout 120 "$warpbeam" run --lockstep "$root/examples/$example.cu" 2>&1); then
    ((++passed))
  else
    ((++failed))
    printf 'FAIL %s\n%s\n' "$example" "$output"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
