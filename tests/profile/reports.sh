# shellcheck shell=bash
# Recordings, and reports of them.

# edited STATEMENT: whole.json after it, of which r is the recording.
edited() { python3 -c 'import json, sys; r = json.load(open("whole.json")); exec(sys.argv[1]); json.dump(r, sys.stdout)' "$1"; }

# A report shows what the recording holds. Names in a recording from elsewhere open nothing, but in the folder that was given.
case_a_report_reads_no_other_files() {
  mkdir source && cp "$here/worked.cu" source && echo secret-of-mine >secret && profile --json whole.json source/worked.cu >out || return 1
  edited "del r['sources']; r['files'][0] = '$PWD/secret'" >crafted.json
  edited "del r['sources']; r['files'][0] = '$PWD/source/../secret'" >around.json
  edited "del r['sources']" >bare.json
  for file in crafted around; do
    "$warpbeam" report $file.json --html $file.html >out 2>&1 && "$warpbeam" report $file.json --sources source --html $file.html >out 2>&1 && ! grep -q secret-of-mine $file.html || return 1
  done
  "$warpbeam" report bare.json --html bare.html >out 2>&1 && grep -q 'holds no sources' out && ! grep -q 'cudaMalloc(' bare.html &&
    "$warpbeam" report bare.json --sources source --html full.html >out && grep -q 'cudaMalloc(' full.html &&
    "$warpbeam" report whole.json --html whole.html >out && grep -q 'cudaMalloc(' whole.html
}

# Recordings that are not as they should be are refused in a sentence, and what is unknown is let be.
case_damaged_recordings() {
  local change
  profile --json whole.json "$here/worked.cu" >out || return 1
  edited 'r["unknown"] = {"a": [[[[1]]]]}; r["launches"][0]["unknown"] = "x"' >more.json && "$warpbeam" report more.json >out || return 1
  for change in 'del r["launches"]' 'r["launches"][0]["grid"] = 3' 'r["launches"][0]["counts"][0][0] = 99' 'r["launches"][0]["lines"][0]["file"] = 9' 'r["functions"][0]["instructions"][0][1] = 99' \
    'r["sources"] = []' 'r["files"] = [3]' 'r["launches"][0]["metrics"]["x"] = "y"' 'r["device"] = None' 'r["launches"][0]["predicted"] = []' 'r["launches"][0]["counts"][0][0] = -1' 'r["count_fields"] = []'; do
    edited "$change" >damaged.json && ! "$warpbeam" report damaged.json >out 2>&1 && grep -q 'damaged.json is damaged: ' out || { echo "    $change"; cat out; return 1; }
  done
}

case_the_recording_does_not_depend_on_threads() {
  WARPBEAM_THREADS=1 profile --json one.json "$here/worked.cu" >out || return 1
  WARPBEAM_THREADS=3 profile --json three.json "$here/worked.cu" >out || return 1
  # Times are the host's.
  for file in one three; do sed -E 's/"(queued|began|ended)":[0-9]+//g' $file.json >$file.txt; done
  cmp one.txt three.txt
}
