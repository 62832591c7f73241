#!/usr/bin/env bash
# Our C++ is written as .clang-format says, by clang-format 19, which every release of it may read otherwise. Ends with `N passed, N failed[, N skipped]`.
#   tests/format/run.sh [folder …]            names the files that differ
#   tests/format/run.sh --apply [folder …]    formats them (without folders: all)
# .clang-format-ignore has what is left alone: tables, and the headers that programs include. CUDA sources are not formatted: what they test or show stands in
# certain lines.
set -u
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
cd -- "$root" || exit 1
# Folders that have not been formatted yet; `--apply` without folders formats them, too, and takes them from here.
later='^$'
apply=
[[ ${1:-} == --apply ]] && apply=1 && shift
tool=
for name in clang-format-19 clang-format; do
  command -v "$name" >/dev/null && [[ $("$name" --version) == *' version 19.'* ]] && tool=$name && break
done
if [[ -z $tool ]]; then
  echo "skip: needs clang-format 19 (Debian's clang-format-19, or pip install clang-format==19.1.7)"
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
fi
files() { find "${@:-.}" -type f \( -name '*.cc' -o -name '*.h' \) ! -path '*/build/*' ! -path '*/.git/*' ! -path './include/*' ! -path './shared/*' | sed 's,^\./,,' | sort; }
mapfile -t all < <(files "$@")
if [[ -n $apply ]]; then
  for _ in 1 2; do printf '%s\0' "${all[@]}" | xargs -0 -n 40 -P "$(nproc)" "$tool" -i; done  # what it makes of some lines it would write otherwise
  (($#)) || sed -i "s/^later=.*/later='^$'/" "$root/tests/format/run.sh"
  exit
fi
(($#)) || mapfile -t all < <(printf '%s\n' "${all[@]}" | grep -vE "$later")
differ=$(printf '%s\0' "${all[@]}" | xargs -0 -n 40 -P "$(nproc)" "$tool" --dry-run 2>&1 | sed -nE 's/^([^:]+):[0-9]+:[0-9]+: warning: code should be clang-formatted.*/\1/p' | sort -u)
while read -r file; do [[ -n $file ]] && echo "FAIL $file is not formatted: tests/format/run.sh --apply $file"; done <<<"$differ"
failed=$(grep -c . <<<"$differ")
echo "$((${#all[@]} - failed)) passed, $failed failed"
((failed == 0))
