#!/usr/bin/env bash
# Prints every include that points from a room of src/ to one it may not lean on, and every folder of src/ that is no room.
# Ends with `N passed, N failed`.
set -u
cd -- "$(dirname -- "$0")/../../src" || exit 1
# A file belongs to the room with the longest name that its path begins with. All may lean on themselves and on what lies in them.
declare -A may=(
  [base]=""
  [fatbin]="base"
  [isa]="base"
  [ptx]="base isa"
  [model]="base"
  [assembly]="base isa ptx model"
  [timing]="base isa ptx model assembly"
  [vm]="base isa ptx model"
  [jit]="base isa ptx model vm"
  [observe]="base isa ptx model assembly timing vm"
  [cuda]="base fatbin isa ptx model assembly timing vm jit observe"
  [report]="base"
  [lowering]=""
  [lowering/checker]=""
  [lowering/language]="lowering/checker"
  [lowering/optimiser]="lowering/checker"
  [compiler]="base fatbin isa ptx model assembly observe report"
  [audit]=""
  [libraries/numeric]=""
  [libraries/curand]=""
  [libraries/cublas]="cuda libraries/numeric"
  [libraries/cublaslt]="cuda libraries/numeric libraries/cublas"
  [libraries/cufft]="cuda libraries/numeric"
  [libraries/cusparse]="cuda libraries/numeric"
  [libraries/cusolver]="cuda libraries/numeric libraries/cublas"
  [libraries/nvrtc]="base isa ptx model report compiler"
  [libraries/nvjitlink]="base model cuda compiler"
  [libraries/nvml]="model"
  [libraries/nccl]="cuda libraries/numeric"
)
room_of() {  # a path: its room, in $room
  room=$1
  while [[ -z ${may[$room]+there} && $room == */* ]]; do room=${room%/*}; done
  [[ -n ${may[$room]+there} ]]
}
declare -A offences=() seen=()
while IFS=: read -r file include; do
  room_of "$file" || { printf 'FAIL src/%s is in no room that tests/architecture knows\n' "$file"; offences[$file]=1; continue; }
  from=$room
  seen[$from]=1
  room_of "$include" || continue  # a header that is not of src/
  [[ $room == "$from" || $room == "$from"/* || " ${may[$from]} " == *" $room "* ]] && continue
  [[ $from == */* && $room == "${from%/*}" ]] && continue  # what the rooms of one folder share lies in it
  printf 'FAIL src/%s includes "%s": %s may lean on %s only\n' "$file" "$include" "$from" "${may[$from]:-nothing}"
  offences[$from]=1
done < <(grep -rnoE --include='*.h' --include='*.cc' --include='*.inc' '^#include "[^"]+"' . | sed -E 's,^\./([^:]+):[0-9]+:#include "([^"]+)",\1:\2,')
printf '%d passed, %d failed\n' "$((${#seen[@]} - ${#offences[@]}))" "${#offences[@]}"
((${#offences[@]} == 0))
