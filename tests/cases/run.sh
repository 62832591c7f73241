#!/usr/bin/env bash
# What files of cases expect (tests/cases.sh): that each of its words holds and fails where it should. Ends with "N passed, N failed".
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
passed=0 failed=0
mkdir "$work/cases"
cp -- "$here/../cases.sh" "$work"
printf '%s\n' '. "${BASH_SOURCE[0]%/*}/../cases.sh"' 'is_metric() { [[ "$*" == "kernel count 4 8" ]]; }' 'run_cases "${1:-}" "$here"/*.txt' >"$work/cases/run.sh"

# verdict STATUS LINE...: a case of these lines is `ok`, `FAIL` or `skip`.
verdict() {
  local wanted=$1 got
  shift
  rm -f -- "$work"/cases/*.txt
  printf '%s\n' "$@" >"$work/cases/a_case.txt"
  got=$(WARPBEAM_FAST='' bash "$work/cases/run.sh" 2>&1)
  if [[ $got == "$wanted"*' a_case'* && $got =~ [01]\ passed,\ [01]\ failed,\ [01]\ skipped$ ]]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    printf 'FAIL %s: not %s:\n%s\n' "$(grep '^// [a-z]*: ' "$work/cases/a_case.txt" | tail -n 1)" "$wanted" "$got"
  fi
}
texts=('// run: cat text; cat text >%n.ptx; echo "a warning" >&2' '// expect: status 0')
file=('//--- text' '.visible .entry first(' 'ld.global 1' 'ld.global 2' '}' '.visible .entry _Z6secondv(' 'loop:' 'add 7' 'bra loop' 'ret' '}')
holds() { verdict ok "${texts[@]}" "// expect: $1" "${file[@]}"; }
fails() { verdict FAIL "${texts[@]}" "// expect: $1" "${file[@]}"; }
holds 'out has ld.global'
fails 'out has st.global'
fails 'nothing has ld.global'
fails 'nothing lacks ld.global'
fails 'nothing at most 3 of ld.global'
holds 'err has a warning'
holds 'out lacks st.global'
fails 'out lacks ld.global'
holds 'out has /^ld\.[a-z]+ 2$/'
fails 'out has /^ld\.[a-z]+ 3$/'
fails 'out lacks /^ld\.[a-z]+ 2$/'
holds 'ptx has 2 of ld.global'
fails 'ptx has 1 of ld.global'
holds 'ptx at most 2 of ld.global'
fails 'ptx at most 1 of ld.global'
holds 'ptx at least 2 of ld.global'
fails 'ptx at least 3 of ld.global'
holds 'ptx in first has 2 of ld.'
holds 'ptx in second lacks ld.global'
fails 'ptx in second has ld.global'
fails 'ptx in third lacks ld.global'
holds 'ptx in second in /loop:/ to /bra/ has add'
fails 'ptx in second in /loop:/ to /bra/ has ret'
fails 'ptx in first in /loop:/ to /bra/ lacks ret'
holds 'err is a warning'
fails 'err is a warnin'
holds 'out is .visible .entry first(\nld.global 1\nld.global 2\n}\n.visible .entry _Z6secondv(\nloop:\nadd 7\nbra loop\nret\n}'
fails 'err is empty'
holds 'text is there'
fails 'text is missing'
holds 'nothing is missing'
fails 'nothing is there'
holds 'kernel count 4 8'
fails 'kernel count 4 9'
fails 'kernel'
verdict ok '// run: exit_with() { return 3; }; exit_with' '// expect: status 3'
verdict FAIL '// run: exit_with() { return 3; }; exit_with'
verdict FAIL '// run: true' '// expect: status 3'
verdict FAIL '// run: true' '// expect: status 3' '// expect: err is empty'
verdict FAIL '// run: true' '// run: false' '// run: true'
verdict skip '// needs: no-such-command' '// run: false'
verdict ok '// engines: interpreter jit' '// run: echo $WARPBEAM_ENGINE' '// expect: out has /^(interpreter|jit)$/'
verdict FAIL '// engines: interpreter jit' '// run: echo $WARPBEAM_ENGINE' '// expect: out is interpreter'
verdict ok '// run: cat sub/inner %s' '// expect: out has /^inside$/' '//--- sub/inner' 'inside'
verdict FAIL '// What says nothing of a run.'
verdict FAIL '// run: true' '// expects: err has a word that nobody knows'
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
