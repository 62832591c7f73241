#!/usr/bin/env bash
# nvidia-smi of the virtual devices says what scripts look for. Ends with "N passed, N failed".
set -u
here=$(cd -- "$(dirname -- "$0")" && pwd -P)
build=${WARPBEAM_BUILD:-$here/../../build/release}
smi=$build/bin/nvidia-smi
unset CUDA_VISIBLE_DEVICES WARPBEAM_DEVICES
export WARPBEAM_DEVICE=v100
passed=0 failed=0

expect() { # name, status, extended regular expression for all of the output, command...
  local name=$1 status=$2 pattern=$3 out got
  shift 3
  out=$("$@" 2>&1)
  got=$?
  if [[ $got == "$status" && $out =~ ^$pattern$ ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL %s: status %s, it prints\n%s\n' "$name" "$got" "$out"
  fi
}

uuid='GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
line=$'\n'
expect 'a list' 0 "GPU 0: Tesla V100-SXM2-32GB \(UUID: $uuid\)" "$smi" -L
expect 'two devices' 0 "GPU 0: [^$line]+${line}GPU 1: [^$line]+" env WARPBEAM_DEVICES=2 "$smi" --list-gpus
expect 'one of two' 0 "GPU 1: [^$line]+" env WARPBEAM_DEVICES=2 "$smi" -L -i 1
expect 'what programs may see is not asked' 0 'GPU 0: .*' env CUDA_VISIBLE_DEVICES= "$smi" -L
expect 'no such device' 6 'No devices were found' "$smi" -i 7
expect 'fields' 0 "name, memory.total \[MiB\], compute_cap${line}Tesla V100-SXM2-32GB, 32[0-9]{3} MiB, 7.0" "$smi" --query-gpu=name,memory.total,compute_cap --format=csv
expect 'fields without header' 0 "Tesla V100-SXM2-32GB, 0 MiB, \[N/A\]" "$smi" --query-gpu=gpu_name,memory.used,temperature.gpu --format=csv,noheader
expect 'fields without units' 0 'memory.free, count'"$line"'32[0-9]{3}, 1' "$smi" --query-gpu 'memory.free, count' --format csv,nounits
expect 'a field that does not exist' 2 'Field "colour" is not a valid field to query.*' "$smi" --query-gpu=colour --format=csv
expect 'fields want a format' 2 '"--format=" switch is missing.*' "$smi" --query-gpu=name
expect 'processes' 0 'pid, used_gpu_memory \[MiB\]' "$smi" --query-compute-apps=pid,used_gpu_memory --format=csv
expect 'an option that does not exist' 1 'Invalid combination of input arguments.*' "$smi" --colour
expect 'the table' 0 ".*NVIDIA-SMI [0-9.]+ +Driver Version: [0-9.]+ +CUDA Version: [0-9.]+ .*Tesla V100-SXM2-32GB.* 0MiB / 32[0-9]{3}MiB .*No running processes found.*" "$smi"
expect 'as wide everywhere' 0 '91' bash -c "'$smi' | tail -n +2 | awk '{ print length }' | sort -u"
expect 'all of one' 0 ".*Attached GPUs +: 1.*Product Name +: Tesla V100-SXM2-32GB.*Compute Mode +: Default.*" "$smi" -q
expect 'found by programs that are run' 0 "GPU 0: NVIDIA H200 .*" "$build/bin/warpbeam" run --device h200 -- sh -c 'nvidia-smi -L'
expect 'run itself' 0 "GPU 0: .*" "$build/bin/warpbeam" run -- nvidia-smi -L

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
