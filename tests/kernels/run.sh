#!/usr/bin/env bash
# The PTX files of this folder under every configuration. Each says in its first lines how it is run and what is expected (runner.cpp explains them).
# Ends with `N passed, N failed[, N skipped]`.
#   tests/kernels/run.sh [filter]    a part of a file's name, or CONFIGURATION:part
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$here/../../build/release}/bin/warpbeam
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-kernels.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1
unset WARPBEAM_DEVICE WARPBEAM_ENGINE WARPBEAM_TOOL WARPBEAM_TOOL_OPTIONS
export WARPBEAM_STRICT=1 WARPBEAM_KERNEL_CACHE=$work/cache
only=*
filter=${1:-}
[[ $filter == *:* ]] && only=${filter%%:*} filter=${filter#*:}
files=("$here"/*"$filter"*.ptx)
"$warpbeam" nvcc -std=c++20 "$here/runner.cpp" -lcuda -o runner || { echo "0 passed, 1 failed"; exit 1; }

passed=0 failed=0 skipped=0
configuration() { # name, command …
  local name=$1 word
  shift
  # shellcheck disable=SC2053
  [[ $name == $only ]] || return
  timeout 300 "$@" ./runner "$name" "${files[@]}" >"$name.out" 2>"$name.err" </dev/null
  while read -r word _; do
    case $word in
      ok) ((++passed)) ;;
      skip) ((++skipped)) ;;
    esac
  done <"$name.out"
  grep '^FAIL' "$name.out"
  failed=$((failed + $(grep -c '^FAIL' "$name.out")))
  if (($(grep -cE '^(ok|skip|FAIL) ' "$name.out") != ${#files[@]})); then
    ((++failed))
    echo "FAIL [$name] ended after: $(tail -n 1 "$name.out"): $(tail -n 1 "$name.err")"
  fi
}
configuration interpreter "$warpbeam" run --engine interpreter
configuration compiled "$warpbeam" run --engine jit
configuration compiled-avx2 env WARPBEAM_JIT_CPU=haswell "$warpbeam" run --engine jit
configuration lockstep "$warpbeam" run --lockstep
configuration profile "$warpbeam" profile --json profile.json
configuration clock "$warpbeam" run --clock device
configuration check "$warpbeam" check --json found.json
# Compiled code has to get along with rows that it does not know, whatever they do: here with none of them, and without those of each opcode.
configuration without-rows env WARPBEAM_JIT_WITHOUT=rows "$warpbeam" run --engine jit
all=("${files[@]}")
for opcode in $(grep -oE '"[a-z0-9]+"\)' "$here/../../src/isa/opcode.h" | tr -d '")'); do
  mapfile -t files < <(grep -lE "(^|[ ;}])$opcode[. ;]" "${all[@]}")
  ((${#files[@]})) && configuration "without-$opcode" env "WARPBEAM_JIT_WITHOUT=$opcode" "$warpbeam" run --engine jit
done
files=("${all[@]}")
configuration check-interpreter env WARPBEAM_ENGINE=interpreter "$warpbeam" check --json found-interpreter.json

# What the checker found in each kernel is what the file says. Kind, kernel and severity of a finding stand on lines of their own.
findings() { # configuration, JSON
  [[ -e $2 ]] || return
  local file name wanted got
  for file in "${files[@]}"; do
    name=${file##*/} name=${name%.ptx}
    wanted=$(sed -n 's,^// check: ,,p' "$file")
    got=$(sed -nE 's/^ {6}"(kind|kernel)": "(.*)",$/\2/p' "$2" | paste -d ' ' - - | awk -v name="$name" '$2 == name {print $1}' | sort | paste -sd ' ')
    if [[ $wanted == "$got" ]]; then ((++passed)); else ((++failed)) && echo "FAIL $name.ptx [$1]: found '$got' instead of '$wanted'"; fi
  done
}
findings check found.json
findings check-interpreter found-interpreter.json

if ((skipped)); then echo "$passed passed, $failed failed, $skipped skipped"; else echo "$passed passed, $failed failed"; fi
((failed == 0))
