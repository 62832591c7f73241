#!/usr/bin/env bash
# Programs that live on a device's time (--clock device). Ends with `N passed, N failed`.
set -u
cd -- "$(dirname -- "$0")/programs" || exit 1
warpbeam=${WARPBEAM_BUILD:-$PWD/../../../build/release}/bin/warpbeam
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
unset WARPBEAM_CLOCK WARPBEAM_HOST_SCALE WARPBEAM_DEVICE WARPBEAM_THREADS CUDA_DEVICE_MAX_CONNECTIONS
openmp=()  # where it is installed
[[ -e /usr/lib/llvm-19/lib/clang/19/include/omp.h ]] && openmp=(-Xcompiler -fopenmp)
passed=0 failed=0

verdict() { # name, whether it went well, a file that tells why not
  if (($2 == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $1"
    tail -n 20 -- "$3"
  fi
}

on() { # device, program, arguments: on its time. Host code is free, since how busy this machine is must not matter.
  "$warpbeam" run --clock device --host-scale 0 --device "$1" "${@:2}"
}

for device in c2050 k40 h100 h200; do
  on $device "${openmp[@]}" idioms.cu >"$work/log" 2>&1
  verdict "idioms on $device" $? "$work/log"
done
for row in 8800gtx:none c2050:one m2090:one gtx680:single k20:many k40:many h100:many h200:many; do
  on "${row%:*}" streams.cu -- "${row#*:}" >"$work/log" 2>&1
  verdict "streams on ${row%:*}" $? "$work/log"
done
for device in k40 h200; do
  on $device callbacks.cu >"$work/log" 2>&1
  verdict "callbacks on $device" $? "$work/log"
done

for device in v100 a100 h100; do
  on $device far.cu >"$work/log" 2>&1
  verdict "memory elsewhere on $device" $? "$work/log"
done

for device in k40 h100; do
  "$warpbeam" run --clock device --device $device spin.cu >"$work/log" 2>&1
  verdict "spin on $device" $? "$work/log"
done

# Where the host's work is free, a run is like the next one.
for program in idioms streams spin; do
  words=()
  [[ $program == idioms ]] && words=("${openmp[@]}")
  for threads in 1 1 2 4; do
    WARPBEAM_THREADS=$threads "$warpbeam" run --clock device --host-scale 0 --device h100 "${words[@]}" $program.cu >"$work/$threads.$program" 2>&1 || cp "$work/$threads.$program" "$work/bad"
    [[ -e $work/first.$program ]] || cp "$work/$threads.$program" "$work/first.$program"
    cmp -s "$work/first.$program" "$work/$threads.$program"
    verdict "$program is the same with $threads threads" $? "$work/$threads.$program"
  done
done

# Timelines: JSON whose rows do not overlap, tables that the published queries run on, and reports with their columns.
"$warpbeam" timeline --device k40 -o "$work/t.json" streams.cu -- many >"$work/log" 2>&1 && python3 - "$work/t.json" >>"$work/log" 2>&1 <<'CHECK'
import json, sys
trace = json.load(open(sys.argv[1]))
events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
assert trace["schemaVersion"] == 1 and "K40" in trace["deviceProperties"][0]["name"]
cats = {e["cat"] for e in events}
assert {"kernel", "gpu_memcpy", "cuda_runtime", "cuda_sync"} <= cats, cats
calls = {e["args"]["correlation"]: e for e in events if e["cat"].startswith("cuda_")}
for e in events:
    if e["cat"] in ("kernel", "gpu_memcpy"):
        call = calls[e["args"]["correlation"]]
        assert e["ts"] >= call["ts"], e
        assert call["name"].startswith("cudaLaunchKernel" if e["cat"] == "kernel" else "cudaMemcpyAsync"), (call, e)
rows = {}
for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
    end = rows.get((e["pid"], e["tid"]), 0)
    assert e["ts"] >= end - 0.002, e
    rows[e["pid"], e["tid"]] = e["ts"] + e["dur"]
assert len({e["tid"] for e in events if e["cat"] == "kernel"}) == 5, events
CHECK
verdict 'timeline as JSON' $? "$work/log"
"$warpbeam" timeline --device k40 -o "$work/t.sqlite" streams.cu -- many >"$work/log" 2>&1 && python3 - "$work/t.sqlite" >>"$work/log" 2>&1 <<'CHECK'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
rows = db.execute("""SELECT names.value, COUNT(*), MIN(k.start - r.start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
  JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId == k.correlationId AND k.globalPid == (r.globalTid & 0xFFFFFFFFFF000000)
  JOIN StringIds AS names ON names.id == k.shortName GROUP BY names.value ORDER BY names.value""").fetchall()
assert [(name, count) for name, count, _ in rows] == [("add_one", 6), ("busy", 59)], rows
assert all(delay > 0 for _, _, delay in rows), rows
kinds = db.execute("SELECT e.label, SUM(m.bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m JOIN ENUM_CUDA_MEMCPY_OPER AS e ON e.id == m.copyKind GROUP BY e.label ORDER BY e.label").fetchall()
assert kinds == [("Device-to-Host", 8 << 20), ("Host-to-Device", 8 << 20)], kinds
CHECK
verdict 'timeline as tables' $? "$work/log"
"$warpbeam" stats --device h100 -f csv -r cuda_gpu_kern_sum,cuda_gpu_trace,cuda_gpu_mem_size_sum -o "$work/stats" streams.cu >"$work/log" 2>&1 &&
  grep -qx 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name' "$work/stats" &&
  grep -qx 'Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name' "$work/stats" &&
  grep -q '^8.389,5,.*,\[CUDA memcpy Host-to-Device\]$' "$work/stats"
verdict 'stats as CSV' $? "$work/log"
"$warpbeam" stats -r cuda_gpu_kern_summ streams.cu >"$work/log" 2>&1
grep -qx "warpbeam stats: there is no report 'cuda_gpu_kern_summ'; did you mean 'cuda_gpu_kern_sum'?" "$work/log"
verdict 'an unknown report' $? "$work/log"
"$warpbeam" timeline -o /dev/null/t.json streams.cu >"$work/log" 2>&1
grep -qx 'warpbeam timeline: /dev/null/t.json could not be written' "$work/log"
verdict 'a file that cannot be written' $? "$work/log"

# What nobody can mean.
for words in '--clock gpu' '--host-scale 1' '--clock device --host-scale fast' '--clock device --host-scale -1'; do
  # shellcheck disable=SC2086
  "$warpbeam" run $words streams.cu >"$work/log" 2>&1
  [[ $? -eq 1 && $(wc -l <"$work/log") -eq 1 ]]
  verdict "$words" $? "$work/log"
done
CUDA_DEVICE_MAX_CONNECTIONS=many on h100 streams.cu >"$work/log" 2>&1
grep -q '^warpbeam: CUDA_DEVICE_MAX_CONNECTIONS=many: a number from 1 to 32' "$work/log"
verdict 'CUDA_DEVICE_MAX_CONNECTIONS=many' $? "$work/log"

echo "$passed passed, $failed failed"
((failed == 0))
