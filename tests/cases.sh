# shellcheck shell=bash
# What scripts share whose cases are functions `case_NAME` or files; they source it, make what their cases need and end with
# `run_cases "$filter" FILE…`. A case works in a folder of its own. A file is a source that says in its first lines what is done with it:
#
#   // What the case shows.
#   // needs: g++ /usr/include/omp.h       commands and files; the case is skipped without them
#   // engines: interpreter jit            all runs with each
#   // run: nvcc -ptx %s                   a command line of the shell; %s is the source, %n its name without the suffix
#   // expect: status 1                    of the run above it; 0 without the line
#   // expect: ptx has rem.u32             a text stands in a file: `out`, `err`, `ptx` (which is %n.ptx) or the name of another
#   // expect: ptx lacks /(mul|div)[ds]c3/ regular expressions stand between slashes
#   // expect: ptx has 5 of ld.global      so many lines have it; so `at most 5 of`, `at least 5 of`
#   // expect: ptx in k lacks div.         in the PTX or machine code of one function; `in /from/ to /to/ has` is a part from line to line
#   // expect: out is [a][b]               all that the file has (`\n` ends a line); `is empty`, `is there`, `is missing` too
#   // expect: k gld_transactions 4 8      what the script's function `is_metric` looks up
#
# Behind a line `//--- NAME` stands another file of the case.

here=$(cd -- "${BASH_SOURCE[1]%/*}" && pwd -P)
root=$(cd -- "${BASH_SOURCE[0]%/*}/.." && pwd -P)
build=${WARPBEAM_BUILD:-$root/build/release}
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-${here##*/}.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

# expect STATUS COMMAND...: runs it with out and err filled; fails when the status is another one.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  ((status == wanted)) || ended_wrong "$*" "$status" "$wanted"
}
ended_wrong() { # command, status, wanted
  echo "    $1 ended with $2 instead of $3"
  sed 's/^/    /' err
  tail -n 5 out | sed 's/^/    /'
  return 1
}
# has FILE TEXT...: every text is in the file.
has() {
  local file=$1 text
  shift
  for text in "$@"; do
    grep -qF -e "$text" -- "$file" || {
      echo "    $file lacks: $text"
      sed 's/^/    | /' "$file" | head -n 20
      return 1
    }
  done
}
hasnt() { [[ -e $1 ]] && ! grep -qF -e "$2" -- "$1" || { echo "    $1 has: $2"; return 1; }; }
# Sources are older than any build, as they are in life.
old() { touch -d '1 hour ago' "$@"; }

# What a file's first lines say, without the slashes.
header() { awk '!/^\/\/( |$)/ { exit } { sub(/^\/\/ ?/, ""); print }' "$1"; }

# part SCOPE FILE: a function's lines of PTX or of machine code, or those from one expression to another.
part() {
  if [[ $1 == /*/\ to\ /*/ ]]; then
    local from=${1%%/ to /*}/ to=/${1##*/ to /}
    sed -nE "$from,${to}p" "$2"
  else
    awk -v name="$1" '
      inside && / for sm_[0-9]+, an estimate/ { exit }
      !inside { inside = /\.(entry|func)/ ? index($0 "(", name "(") || index($0, "_Z" length(name) name) : index($0, name "(") == 1 }
      inside { print }
      inside && /^}/ { exit }' "$2"
  fi
}

# expected WORDS: what an `expect` line says of the run before it; says what is not so.
expected() {
  local said=$1 file=${1%% *} rest=${1#* } text lines count much
  case $file in
    ptx) file=$name.ptx ;;
    status) return 0 ;;  # it was asked when the run ended
  esac
  while [[ $rest =~ ^in\ (/.*/\ to\ /[^/]*/|[^ ]+)\ (.*)$ ]]; do
    text=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
    part "$text" "$file" >part.new && mv part.new part
    file=part
    [[ -s part ]] || { echo "    $said: there is no $text after: $command"; return 1; }
  done
  case $rest in
    'is there') [[ -s $file ]] && return ;;
    'is missing') [[ ! -e $file ]] && return ;;
    'is empty') [[ -e $file && ! -s $file ]] && return ;;
    'is '*) rest=${rest#is } && [[ $(<"$file") == "${rest//\\n/$'\n'}" ]] && return ;;
    'has '* | 'lacks '* | 'at most '* | 'at least '*)
      much=0 lines=${rest#* } text=-F
      if [[ $rest =~ ^(has|at\ most|at\ least)\ ([0-9]+)\ of\ (.*)$ ]]; then much=${BASH_REMATCH[2]} lines=${BASH_REMATCH[3]} rest="${BASH_REMATCH[1]} so many"; fi
      [[ $lines == /*/ ]] && text=-E lines=${lines:1:-1}
      count=$(grep -ca "$text" -e "$lines" -- "$file")
      [[ -z $count ]] || case $rest in  # it is not empty where the file is there
        'has so many') ((count == much)) && return ;;
        'at most so many') ((count <= much)) && return ;;
        'at least so many') ((count >= much)) && return ;;
        'has '*) ((count > 0)) && return ;;
        'lacks '*) ((count == 0)) && return ;;
      esac
      said+=" (it stands in ${count:-no} lines)"
      ;;
    *)
      read -r file count text <<<"$1"
      is_metric "$file" "$count" "$text" && return
      ;;
  esac
  echo "    $said: not so after: $command"
  [[ ! -s $file ]] || sed 's/^/    | /' "$file" | head -n 20
  return 1
}

# rows_case SOURCE: what the lines of stdin say, `run: …` and `expect: …`.
rows_case() {
  local source=${1##*/} name line command='' status wanted k
  name=${source%.*}
  mapfile -t rows
  rows+=('run: ')
  for ((k = 0; k < ${#rows[@]}; ++k)); do
    line=${rows[k]}
    line=${line//%s/$source} line=${line//%n/$name}
    case $line in
      'run: '*)
        command=${line#run: } wanted=0 status=0
        row_metrics=()
        for line in "${rows[@]:k+1}"; do
          [[ $line == run:* ]] && break
          [[ $line == 'expect: status '* ]] && wanted=${line##* }
          [[ $line =~ ^expect:\ [^\ ]+\ ([a-z][a-z_0-9.]+)\ [-0-9n] && ${BASH_REMATCH[1]} != has ]] && row_metrics+=("${BASH_REMATCH[1]}")
        done
        [[ -n $command ]] || return 0
        eval "$command" >out 2>err || status=$?
        ((status == wanted)) || ended_wrong "$command" "$status" "$wanted" || return
        ;;
      'expect: '*) expected "${line#expect: }" || return ;;
    esac
  done
}

# file_case FILE: the case that a file is.
file_case() {
  local source=$1 header=$PWD.header needs need engine
  awk -v file="${1##*/}" '/^\/\/--- / { file = $2; if (file ~ /\//) { folder = file; sub(/\/[^\/]*$/, "", folder); system("mkdir -p " folder) } next } { print >file }' "$source"
  old ./*
  header "$source" >"$header"
  grep -q '^run: ' "$header" || { echo '    its first lines do not say what is run'; return 1; }
  ! grep -E '^[a-z]+:' "$header" | grep -vE '^(needs|engines|run|expect): ' || { echo '    nobody knows this word'; return 1; }
  needs=$(sed -n 's/^needs: //p' "$header")
  for need in $needs; do
    [[ -e $need ]] || command -v "$need" >/dev/null || { echo "    needs $need"; return 77; }
  done
  for engine in $(sed -n 's/^engines: //p' "$header" | grep . || echo -); do
    ([[ $engine == - ]] || export WARPBEAM_ENGINE=$engine; rows_case "$source" <"$header") || return
  done
}

# run_cases FILTER FILE...: the functions and files whose name has the filter in it, as many at once as there are processors. Under WARPBEAM_FAST, every
# third. Prints a line for each, with WARPBEAM_TIMES how long it took and how much of a processor, and last `N passed, N failed, N skipped`.
run_cases() {
  local filter=$1 name file all=() number=${WARPBEAM_FAST_ROUND:-0} passed=0 failed=0 skipped=0 printed=0 jobs k
  shift
  jobs=$(nproc)
  for name in $(declare -F | sed -n 's/^declare -f case_//p') "$@"; do
    file=${name##*/}
    [[ ${file%.*} == *"$filter"* ]] || continue
    if [[ -n ${WARPBEAM_FAST:-} ]] && ((number++ % 3)); then continue; fi
    all+=("$name")
  done
  trap 'kill -TERM $(jobs -p | sed s/^/-/) 2>/dev/null; exit 130' INT TERM
  for ((k = 0; k < ${#all[@]}; ++k)); do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n; print_finished; done
    set -m  # a group of its own, to be killed as one, and signals as they are for who starts a command
    run_case "$k" "${all[k]}" </dev/null &
    set +m
  done
  while (($(jobs -rp | wc -l))); do wait -n; print_finished; done
  for ((k = 0; k < ${#all[@]}; ++k)); do [[ -e $work/case$k.status ]] || echo 'killed' >"$work/case$k.status"; done
  print_finished
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0))
}
run_case() { # number, name or file
  mkdir -- "$work/case$1"
  cd -- "$work/case$1" || exit
  local status TIMEFORMAT=' (%R s, %U + %S)'
  set +m
  { time { (if [[ $2 == */* ]]; then file_case "$2"; else "case_$2"; fi) >"$work/case$1.report" 2>&1; }; } 2>"$work/case$1.time"
  status=$?
  cd /
  rm -rf -- "$work/case$1"
  echo "$status" >"$work/case$1.status"
}
print_finished() {
  local name
  while ((printed < ${#all[@]})) && [[ -e $work/case$printed.status ]]; do
    name=${all[printed]##*/}
    name=${name%.*}
    [[ -z ${WARPBEAM_TIMES:-} ]] || name+=$(<"$work/case$printed.time")
    case $(<"$work/case$printed.status") in
      0) echo "ok   $name"; passed=$((passed + 1)) ;;
      77) echo "skip $name"; skipped=$((skipped + 1)) ;;
      *) echo "FAIL $name"; failed=$((failed + 1)) ;;
    esac
    cat -- "$work/case$printed.report"
    printed=$((printed + 1))
  done
}
