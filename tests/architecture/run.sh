#!/usr/bin/env bash
# Prints every include that points from a room of src/ to one it may not lean on, every folder of src/ that is no room, and headers that
# include each other in a circle. Ends with `N passed, N failed`.
set -u
root=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)
cd -- "$(dirname -- "$0")/../../src" || exit 1
# A file belongs to the room with the longest name that its path begins with. All may lean on themselves and on what lies in them.
declare -A may=(
  [base]=""
  [fatbin]="base"
  [findings]=""
  [isa]="base"
  [ptx]="base isa"
  [model]="base"
  [assembly]="base isa ptx model"
  [timing]="base isa ptx model assembly"
  [vm]="base isa ptx model"
  [jit]="base isa ptx model vm"
  [observe]="base findings isa ptx model assembly timing vm"
  [cuda]="base fatbin isa ptx model assembly timing vm jit observe"
  [report]="base findings"
  [lowering]=""
  [lowering/checker]=""
  [lowering/language]="lowering/checker"
  [lowering/optimiser]="lowering/checker"
  [compiler]="base fatbin findings isa ptx model assembly observe report"
  [audit]=""
  [libraries/numeric]=""
  [libraries/curand]="base"
  [libraries/cublas]="base cuda libraries/numeric"
  [libraries/cublaslt]="cuda libraries/numeric libraries/cublas"
  [libraries/cufft]="cuda libraries/numeric"
  [libraries/cusparse]="cuda libraries/numeric"
  [libraries/cusolver]="cuda libraries/numeric libraries/cublas"
  [libraries/nvvm]="base"
  [libraries/nvrtc]="base isa ptx model report compiler libraries/nvvm"
  [libraries/nvfatbin]="base fatbin"
  [libraries/nvjitlink]="base model cuda compiler libraries/nvvm"
  [libraries/nvml]="model"
  [libraries/cupti]="observe"
  [libraries/nccl]="cuda libraries/numeric"
)
# Chapters of one API call each other; what they declare has an order.
declare -A headers_may=(
  [cuda]="cuda/devices"
  [cuda/streams]="cuda"
  [cuda/devices]="cuda cuda/streams"
  [cuda/memory]="cuda cuda/streams cuda/devices"
  [cuda/modules]="cuda cuda/streams cuda/devices"
  [cuda/launches]="cuda cuda/streams cuda/devices cuda/modules"
  [cuda/graphs]="cuda cuda/streams cuda/devices cuda/memory cuda/modules cuda/launches"
  [cuda/textures]="cuda cuda/streams cuda/devices cuda/memory cuda/modules"
  [cuda/children]="cuda cuda/streams cuda/devices cuda/modules cuda/launches"
  [cuda/driver]="cuda cuda/streams cuda/devices cuda/memory cuda/modules cuda/launches cuda/graphs cuda/textures"
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
  if [[ $include == cuda/driver/* && $file != cuda/driver/* ]]; then
    printf 'FAIL src/%s includes "%s": the driver API leans on the rest of cuda, and not the other way round\n' "$file" "$include"
    offences[$from]=1
  fi
  if [[ $file == cuda/*.h && $include == cuda/* && ${file%/*} != "${include%/*}" && " ${headers_may[${file%/*}]:-} " != *" ${include%/*} "* ]]; then
    printf 'FAIL src/%s includes "%s": headers of %s may lean on %s only\n' "$file" "$include" "${file%/*}" "${headers_may[${file%/*}]:-nothing}"
    offences[$from]=1
  fi
  room_of "$include" || continue  # a header that is not of src/
  [[ $room == "$from" || $room == "$from"/* || " ${may[$from]} " == *" $room "* ]] && continue
  [[ $from == */* && $room == "${from%/*}" ]] && continue  # what the rooms of one folder share lies in it
  printf 'FAIL src/%s includes "%s": %s may lean on %s only\n' "$file" "$include" "$from" "${may[$from]:-nothing}"
  offences[$from]=1
done < <(grep -rnoE --include='*.h' --include='*.cc' --include='*.inc' '^#include "[^"]+"' . | sed -E 's,^\./([^:]+):[0-9]+:#include "([^"]+)",\1:\2,')

# Headers, each with those that it includes by a name from src/, or, in include/, from its own folder or the top.
circles() {
  cd -- "$1" && grep -rnoE '^# *include "[^"]+"' --include='*.h' --include='*.inc' . | sed -E 's,^\./([^:]+):[0-9]+:# *include "([^"]+)",\1 \2,' | while read -r file include; do
    near=./$file
    near=${near%/*}/$include
    while [[ $near =~ ^(.*)/[^/.]+/\.\./(.*)$ ]]; do near=${BASH_REMATCH[1]}/${BASH_REMATCH[2]}; done
    near=${near#./}
    if [[ -e $near ]]; then echo "$file $near"; elif [[ -e $include ]]; then echo "$file $include"; fi
  done | grep -v '^cuda_runtime.h warpbeam/prelude.h$' | tsort 2>&1 >/dev/null
}
# (A program may include cuda_runtime.h by itself, or as the driver does by way of the prelude.)
for folder in src include; do
  if circle=$(circles "$root/$folder") && [[ -z $circle ]]; then
    seen[$folder]=1
  else
    printf 'FAIL %s: headers include each other:\n%s\n' "$folder" "$circle"
    seen[$folder]=1 offences[$folder]=1
  fi
done

# What an instruction is and does stands in the instruction table (isa/row.h, Insn::step): the fast engine asks for enumerators and
# effects, never for words or handlers, and so do the watchers.
checks=0 broken=0
rule() { # what it says, what grep found
  ((++checks))
  [[ -z $2 ]] && return
  ((++broken))
  printf 'FAIL %s:\n%s\n' "$1" "$2"
}
rule 'src/jit compares an opcode with a string; ask Row::op' "$(grep -nE 'op(code)? *[!=]= *"|opcode\.(starts|ends)_with' jit/*.cc jit/*.h)"
rule 'src/observe compares an opcode with a string; ask Row::op' "$(grep -rnE 'op(code)? *[!=]= *"|opcode\.(starts|ends)_with' observe)"
rule 'src/jit tells instructions apart by their handlers; ask Insn::step' "$(grep -nE '(\.|->)fn *[!=]=' jit/*.cc jit/*.h)"
rule 'commands are started with a list of words, not through a shell' "$(grep -rnE '\b(popen|system)\(' --include='*.cc' --include='*.h' . | grep -v '[.>_:]system(')"
# Files of the fast engine can be read at a sitting, its classes have a purpose, and what knows nothing of the emitter stays so.
rule 'src/jit: a file has more than 500 lines' "$(wc -l jit/*.cc jit/*.h | awk '$1 > 500 && $2 != "total" {print "  " $2 ": " $1}')"
rule 'src/jit: only emit_*.cc, find_coarsening.cc and engine.cc know the emitter' "$(grep -ln '"jit/emitter.h"' jit/*.cc jit/*.h | grep -vE '^jit/(emit_[a-z_]*|find_coarsening|engine)\.cc$')"
rule 'src/jit: a structure has more than 25 fields' "$(awk '
  /^(class|struct) [A-Za-z]+.*\{$/ { name = $2; fields = 0; next }
  /^\};/ { if (fields > 25) print "  " FILENAME ": " name ": " fields; name = "" }
  name && /^  [A-Za-z].*;/ && !/^  (using|static|friend|explicit|extern|return) / {
    sub(/ *\/\/.*/, ""); gsub(/<[^<>]*>/, ""); gsub(/<[^<>]*>/, ""); gsub(/\{[^{}]*\}/, ""); gsub(/ = [^,;]*/, "")
    if ($0 !~ /\(/) fields += gsub(/,/, "") + 1
  }' jit/*.h)"
# What the checker finds is a row of findings/kinds.inc, has a place in the manual and a case that fails without it.
kinds=$(sed -nE 's/^WB_FINDING\(\w+, *"(\w+)".*/\1/p' findings/kinds.inc)
while read -r kind; do
  rule "kinds of findings are named by findings::Kind, not by \"$kind\"" "$(grep -rn "\.kind *[!=]*= *\"$kind\"" observe compiler report)"
  grep -q "\`$kind\`" ../docs/checker.md || rule "docs/checker.md does not tell of" "  $kind"
  grep -rqw -- "$kind" ../tests/check ../tests/kernels || rule "no case in tests/check finds" "  $kind"
done <<<"$kinds"
rule 'src/findings/kinds.inc lists no kinds' "$([[ -n $kinds ]] || echo none)"
# Each technique is told of, where it stands its idea and conditions, and a test fails when it does not happen any more.
told() { # a file of the fast engine or its header tells all four
  local file word
  for file in "jit/${1%.*}.h" "jit/$1"; do
    [[ -e $file ]] || continue
    for word in Idea Precondition Postcondition Fallback; do grep -qE "^// (.*[.:;] )?$word:( |$)" "$file" || continue 2; done
    return 0
  done
  return 1
}
techniques=$(sed -nE 's/^ *X\(\w+, "([^"]+)"\).*/\1/p' jit/technique.h)
while read -r technique; do
  where=$(grep -F -- "| $technique |" jit/README.md) || rule "src/jit/README.md does not list the technique" "  $technique"
  grep -qE "(happened|planned|find)\(\"$technique\"\)" ../tests/jit/*.cc || rule "no test in tests/jit asserts the technique" "  $technique"
  for file in $(grep -oE '[a-z_]+\.(cc|h)`' <<<"${where%|*|}" | tr -d '`'); do told "$file" && continue 2; done
  rule 'no file that src/jit/README.md names for the technique begins with its Idea, Precondition, Postcondition and Fallback' "  $technique"
done <<<"$techniques"
rule 'src/jit/technique.h lists no techniques' "$([[ -n $techniques ]] || echo none)"

# Cases are files or stand in a script of their subject.
rule 'a script of tests has more than 500 lines' "$(wc -l ../tests/*/*.sh | awk '$1 > 500 && $2 != "total" {print "  " $2 ": " $1}')"

# A first build that had to be tried again takes twice as long.
rule 'the first build failed and went on with each source by itself: sources that are compiled together have a name in common (a clean build shows which)' \
  "$(cd -- "${WARPBEAM_BUILD:-$root/build/release}" 2>/dev/null && ls .each_by_itself 2>/dev/null)"

# A release has a page in the changelog, and the newest is the one that runs.
rule 'a release has more than 40 lines in CHANGELOG.md' "$(awk '/^## /{if (n > 40) print "  " name ": " n; name=$2; n=0} {++n} END{if (n > 40) print "  " name ": " n}' ../CHANGELOG.md)"
newest=$(sed -nE 's/^## ([0-9]+\.[0-9]+\.[0-9]+).*/\1/p' ../CHANGELOG.md | head -n 1)
rule "CHANGELOG.md says $newest, and not so do" "$(grep -LF "\"$newest\"" compiler/toolchain.h; grep -LF "VERSION $newest " ../CMakeLists.txt)"

failed=$((${#offences[@]} + broken))
printf '%d passed, %d failed\n' "$((${#seen[@]} - ${#offences[@]} + checks - broken))" "$failed"
((failed == 0))
