#!/usr/bin/env bash
# The profiler from the outside: each file of cases/ says in its first lines what is done with it and which rows of the table are expected, and what takes
# a shell is a function case_* in a file of its subject. Usage: run.sh [filter]; prints a line per case and ends with "N passed, N failed, N skipped".
set -u
# shellcheck source=../cases.sh
. "${BASH_SOURCE[0]%/*}/../cases.sh"
warpbeam=$build/bin/warpbeam
unset WARPBEAM_DEVICE WARPBEAM_TOOL WARPBEAM_TOOL_OPTIONS WARPBEAM_RECORDING

# With the metrics that the rows of a file's header are about.
profile() {
  local rows=()
  if ((${#row_metrics[@]})); then
    rows=(--csv csv)
    [[ " $* " == *' --set '* ]] || rows+=(--metrics "$(printf '%s\n' "${row_metrics[@]}" | sort -u | paste -sd,)")
  fi
  "$warpbeam" profile ${rows[@]+"${rows[@]}"} "$@"
}
row_metrics=()

# values FILE KERNEL METRIC: the values of a metric for the launches of a kernel, with spaces between them. Instances of a template have its name.
values() {
  awk -F'","' -v kernel="$2" -v metric="$3" '
    { gsub(/^"|"$/, "") }
    NR == 1 { for (k = 1; k <= NF; ++k) if ($k == metric) column = k; if (!column) exit 1; next }
    {
      name = $2
      gsub(/\([a-z_:]+\)/, "", name)
      sub(/^void /, "", name)
      sub(/<[^(]*\(/, "(", name)
    }
    NR > 2 && (index($2, kernel "(") == 1 || index(name, kernel "(") == 1) { text = text (text == "" ? "" : " ") $column }
    END { print text }' "$1"
}
# is FILE KERNEL METRIC VALUES
is() {
  local got
  got=$(values "$1" "$2" "$3") || { echo "    $1 has no $3"; return 1; }
  [[ $got == "$4" ]] || { echo "    $2 $3: '$got' instead of '$4'"; return 1; }
}
is_metric() { is csv "$@"; }

for subject in counts times reports; do
  # shellcheck source=/dev/null
  . "$here/$subject.sh"
done
run_cases "${1:-}" "$here"/cases/*
