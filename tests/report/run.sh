#!/usr/bin/env bash
# The HTML report (page_test.mjs) and the timeline (timeline_test.mjs) in a headless browser, where there is one: `./warpbeam test report` installs it.
# REPORT_PICTURES names a folder for screenshots. Ends with "N passed, N failed, N skipped".
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
build=${WARPBEAM_BUILD:-$root/build/release}
warpbeam=$build/bin/warpbeam
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-report.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
unset WARPBEAM_DEVICE WARPBEAM_TOOL WARPBEAM_TOOL_OPTIONS WARPBEAM_RECORDING

skip() {
  echo "skip: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}
browser=$(command -v chromium) || skip "there is no chromium"
command -v node >/dev/null || skip "there is no node"
modules=$build/browser
if [[ ! -e $modules/node_modules/playwright-core ]]; then
  command -v npm >/dev/null || skip "there is no npm to fetch playwright-core"
  mkdir -p "$modules" && npm install --silent --no-audit --no-fund --prefix "$modules" playwright-core@1.55 >/dev/null 2>&1 ||
    skip "playwright-core could not be fetched"
fi

cd -- "$work" || exit 1
"$warpbeam" profile --html first.html --json first.json "$root/tests/profile/worked.cu" >out 2>&1 &&
  "$warpbeam" profile --device k40 --json second.json "$root/tests/profile/worked.cu" >out 2>&1 &&
  "$warpbeam" report first.json second.json --html pair.html >out 2>&1 &&
  "$warpbeam" profile --html long.html "$root/tests/profile/accesses.cu" -- check >out 2>&1 &&
  "$warpbeam" timeline --host-scale 0 --device k40 -o many.html "$root/tests/clock/programs/streams.cu" -- many >out 2>&1 &&
  "$warpbeam" timeline --host-scale 0 --device m2090 -o one.html "$root/tests/clock/programs/streams.cu" -- one >out 2>&1 &&
  "$warpbeam" timeline --host-scale 0 -o nested.html "$root/tests/clock/programs/nested.cu" >out 2>&1 &&
  "$warpbeam" timeline -o pair-of.html "$root/tests/clock/programs/sudden.cu" -- fork-first >out 2>&1 || {
  cat out
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}
{
  node "$here/page_test.mjs" "$modules" "$browser" first.html pair.html long.html ${REPORT_PICTURES:+"$REPORT_PICTURES"}
  node "$here/timeline_test.mjs" "$modules" "$browser" many.html one.html nested.html pair-of.html ${REPORT_PICTURES:+"$REPORT_PICTURES"}
} >out 2>&1
grep -v ' passed, .* skipped$' out
awk '/ passed, .* skipped$/ { passed += $1; failed += $3; skipped += $5; suites += 1 }
     END { if (suites < 2) failed += 1; printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 }' out
