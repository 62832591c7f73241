#!/usr/bin/env bash
# Prints every include that points from a room of src/ to one it may not lean on. Ends with `N passed, N failed`.
set -u
cd -- "$(dirname -- "$0")/../../src" || exit 1
declare -A may=(
  [base]="base"
  [isa]="base isa"
  [ptx]="base isa ptx"
  [model]="base model"
  [assembly]="base isa ptx model assembly"
  [timing]="base isa ptx model assembly timing"
  [vm]="base isa ptx model vm"
  [jit]="base isa ptx model vm jit"
  [observe]="base isa ptx model assembly timing vm observe"
  [cuda]="base isa ptx model assembly timing vm jit observe cuda"
  [numeric]="numeric"
  [curand]="curand"
  [cublas]="cuda numeric cublas"
  [cublaslt]="cuda numeric cublas cublaslt"
  [cufft]="cuda numeric cufft"
  [cusparse]="cuda numeric cusparse"
  [cusolver]="cuda numeric cublas cusolver"
  [report]="base report"
  [lowering]="lowering"
  [nvrtc]="base isa ptx model report driver nvrtc"
  [nvjitlink]="base model cuda driver nvjitlink"
  [nvml]="model nvml"
  [nccl]="cuda numeric nccl"
  [driver]="base isa ptx model assembly observe report driver"
)
declare -A offences=() seen=()
while IFS=: read -r file include; do
  from=${file%%/*} to=${include%%/*}
  [[ -n ${may[$to]:-} ]] || continue  # not a room
  seen[$from]=1
  [[ " ${may[$from]:-} " == *" $to "* ]] && continue
  printf 'FAIL src/%s includes "%s": %s may lean on %s only\n' "$file" "$include" "$from" "${may[$from]:-nothing}"
  offences[$from]=1
done < <(grep -rnoE --include='*.h' --include='*.cc' --include='*.inc' '^#include "[^"]+"' . | sed -E 's,^\./([^:]+):[0-9]+:#include "([^"]+)",\1:\2,')
printf '%d passed, %d failed\n' "$((${#seen[@]} - ${#offences[@]}))" "${#offences[@]}"
((${#offences[@]} == 0))
