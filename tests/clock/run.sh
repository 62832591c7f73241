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

on h100 costs.cu >"$work/log" 2>&1
verdict 'what calls cost' $? "$work/log"
# Free host code has no first thread: it counts a little here.
"$warpbeam" run --clock device --host-scale 0.001 --device h100 first_launches.cu >"$work/log" 2>&1
verdict 'first launches of threads' $? "$work/log"

for device in v100 a100 h100; do
  on $device --host-scale 0 kernel_clocks.cu >"$work/log" 2>&1
  verdict "clocks in kernels on $device" $? "$work/log"
done
on h100 last_destructors.cu >"$work/log" 2>&1 && grep -q '^all that was asked for' "$work/log"
verdict 'destructors behind main' $? "$work/log"

# Without it nothing changes: every slot by which a module calls a function of time leads to the system's, before and after the runtime is used.
"$warpbeam" run untouched.cu >"$work/without" 2>&1
"$warpbeam" run --clock host untouched.cu >"$work/host" 2>&1
on h100 untouched.cu >"$work/with" 2>&1
{ cat "$work/without" "$work/with"; cmp "$work/without" "$work/host"; } >"$work/log" 2>&1
[[ $(grep -c 'several slots, 0 lead elsewhere, of what dlsym finds 0' "$work/without") == 2 ]] && ! grep -q ' 0 lead elsewhere' "$work/with" &&
  [[ $(tail -n 1 "$work/without") == "$(tail -n 1 "$work/with")" ]] && cmp -s "$work/without" "$work/host"
verdict 'without the clock nothing changes' $? "$work/log"

# Which launch a kernel is compiled for follows from what it has done, not from how long that took here.
for threads in 1 2; do
  WARPBEAM_THREADS=$threads WARPBEAM_JIT_SHOW=plan on h100 steady.cu 2>&1 | grep -B 1 'plan: turns' >"$work/steady.$threads"
done
grep -q 'launch [0-9]' "$work/steady.1" && cmp "$work/steady.1" "$work/steady.2" >"$work/log" 2>&1 && ! grep -q 'launch [1-5]$' "$work/steady.1"
status=$?
cat "$work"/steady.[12] >>"$work/log"
verdict 'a launch is compiled by what was executed before' $status "$work/log"

# An example in the books' style: its bandwidth is an H200's of 12 MB, which its second level holds.
on h200 ../../../examples/vector_add.cu >"$work/log" 2>&1 && awk '/GB\/s/ { good = $(NF - 1) > 600 && $(NF - 1) < 4800 } END { exit !good }' "$work/log"
verdict 'the bandwidth of vector_add' $? "$work/log"

# A program that is profiled lives on the times that are predicted, and prints the same.
on h100 spin.cu >"$work/alone" 2>&1
"$warpbeam" profile --host-scale 0 --device h100 --json "$work/profile.json" spin.cu >"$work/log" 2>&1
cmp "$work/alone" "$work/log" >>"$work/log" 2>&1
verdict 'profile on the time of the device' $? "$work/log"
python3 - "$work/profile.json" >"$work/log" 2>&1 <<'CHECK'
import json, sys
launches = [t for t in json.load(open(sys.argv[1]))["timeline"] if t["kind"] == "launch"]
assert len(launches) > 1 and all(t["queued"] < t["began"] < t["ended"] for t in launches), launches
CHECK
verdict 'what a profile says of streams is of the device too' $? "$work/log"

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

on h100 threads.cu >"$work/log" 2>&1
verdict 'threads beside each other' $? "$work/log"
# The files of its timelines too, with threads of the program's own.
for program in streams threads idioms; do
  words=()
  [[ $program == idioms ]] && words=("${openmp[@]}")
  for kind in json sqlite html; do
    for run in 1 2; do
      WARPBEAM_THREADS=$run "$warpbeam" timeline --host-scale 0 --device h100 "${words[@]}" -o "$work/$run.$kind" $program.cu >"$work/log" 2>&1
    done
    cmp "$work/1.$kind" "$work/2.$kind" >>"$work/log" 2>&1
    verdict "the timeline of $program as $kind is the same twice" $? "$work/log"
  done
done

# The order and the overlap that the chapter on streams tells of, for Fermi, Kepler and Hopper.
for row in m2090:one k40:many h100:many; do
  "$warpbeam" timeline --host-scale 0 --device "${row%:*}" "${openmp[@]}" -o "$work/t.json" chapter.cu >"$work/log" 2>&1 && python3 chapter_order.py "$work/t.json" "${row#*:}" >>"$work/log" 2>&1
  verdict "the chapter's timeline on ${row%:*}" $? "$work/log"
done

# Timelines: JSON whose rows do not overlap, tables that the published queries run on, and reports with their columns.
"$warpbeam" timeline --host-scale 0 --device k40 -o "$work/t.json" streams.cu -- many >"$work/log" 2>&1 && python3 - "$work/t.json" >>"$work/log" 2>&1 <<'CHECK'
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
"$warpbeam" timeline --host-scale 0 --device k40 -o "$work/t.sqlite" streams.cu -- many >"$work/log" 2>&1 && python3 - "$work/t.sqlite" >>"$work/log" 2>&1 <<'CHECK'
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
"$warpbeam" stats --host-scale 0 --device h100 -f csv -r cuda_gpu_kern_sum,cuda_gpu_trace,cuda_gpu_mem_size_sum -o "$work/stats" streams.cu >"$work/log" 2>&1 &&
  grep -qx 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name' "$work/stats" &&
  grep -qx 'Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name' "$work/stats" &&
  grep -q '^8.389,5,.*,\[CUDA memcpy Host-to-Device\]$' "$work/stats"
verdict 'stats as CSV' $? "$work/log"
# Every report has the columns that people parse; what it says of the program does not hang on times.
"$warpbeam" stats --host-scale 0 --device h100 -f csv -o "$work/stats" -r nvtx_sum,cuda_api_sum,cuda_gpu_sum,cuda_api_gpu_sum,cuda_kern_exec_sum,cuda_kern_exec_trace,cuda_api_trace,nvtx_pushpop_sum,nvtx_pushpop_trace,nvtx_gpu_proj_sum,nvtx_gpu_proj_trace \
  ranges.cu >"$work/log" 2>&1 && python3 - "$work/stats" >>"$work/log" 2>&1 <<'CHECK'
import csv, sys
parts = [list(csv.reader(part.splitlines())) for part in open(sys.argv[1]).read().strip().split("\n\n")]
heads = [",".join(p[0]) for p in parts]
times = "Time (%),Total Time (ns),{},Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),"
assert heads[:4] == [times.format("Instances") + "Style,Range", times.format("Num Calls") + "Name", times.format("Instances") + "Category,Operation", times.format("Instances") + "Category,Operation"], heads
assert heads[4].startswith("PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),TMin (ns),TMax (ns),TStdDev (ns),AAvg (ns)") and heads[4].endswith("KStdDev (ns),API Name,Kernel Name"), heads[4]
assert heads[5] == "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur (ns),Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name"
assert heads[6] == "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name"
assert heads[8] == "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree"
assert heads[10] == "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,Lvl,NumChild,RangeId,ParentId,RangeStack"
rows = [[dict(zip(p[0], r)) for r in p[1:]] for p in parts]
assert sorted((r["Category"], r["Instances"]) for r in rows[2]) == [("CUDA_KERNEL", "3"), ("MEMORY_OPER", "1")], rows[2]
assert {r["Category"] for r in rows[3]} == {"CUDA_KERNEL", "MEMORY_OPER", "CUDA_API"}
assert [(r["Count"], r["API Name"], r["Kernel Name"]) for r in rows[4]] == [("3", "cudaLaunchKernel", "twice(float*, int)")], rows[4]
assert all(r["GridXYZ"].split() == ["256", "1", "1"] for r in rows[5]) and len(rows[5]) == 3
assert all(int(r["Kernel Start (ns)"]) >= int(r["API Start (ns)"]) for r in rows[5])
assert [(r["Name"], r["Lvl"], r["NumChild"], r["ParentId"], r["RangeStack"], r["NameTree"]) for r in rows[8]] == [
    (":step", "0", "2", "", ":1", ":step"), (":fill", "1", "0", "1", ":1:2", ":step:fill"), ("inner:compute µ", "1", "0", "1", ":1:3", ":stepinner:compute µ")], rows[8]
assert {r["Name"]: r["NumGPUOps"] for r in rows[10]} == {":step": "4", ":fill": "1", "inner:compute µ": "3"}, rows[10]
assert {r["Range"]: r["Total GPU Ops"] for r in rows[9]} == {":step": "4", ":fill": "1", "inner:compute µ": "3"}, rows[9]
CHECK
verdict 'all reports as CSV' $? "$work/log"
for form in summary gpu-trace api-trace; do
  "$warpbeam" stats --host-scale 0 --device k40 --print-$form -o "$work/nvprof" ranges.cu >"$work/log" 2>&1
  sed -E 's/==[0-9]+==/==PID==/; s/application: .*/application: PROGRAM/; s/[0-9.]+(ns|us|ms|s)\b/TIME/g; s/[0-9.]+%/SHARE/; s/[0-9.]+(GB|MB|KB)\/s/SPEED/; s/ +/ /g; s/^ //; s/\) [0-9]+ 0B/) REGISTERS 0B/' "$work/nvprof" >"$work/$form"
  # The order of a summary hangs on times.
  [[ $form == summary ]] && sed -E 's/^(GPU activities|API calls): //' "$work/$form" | LC_ALL=C sort >"$work/sorted" && cp "$work/sorted" "$work/$form"
  diff "$work/$form" "golden/nvprof-$form" >"$work/log" 2>&1
  verdict "nvprof's $form" $? "$work/log"
done
"$warpbeam" timeline --host-scale 0 --device h100 -o "$work/t.sqlite" ranges.cu >"$work/log" 2>&1 && python3 - "$work/t.sqlite" >>"$work/log" 2>&1 <<'CHECK'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
rows = db.execute("""SELECT m.metricName, MAX(g.value), COUNT(*) FROM GPU_METRICS AS g
  JOIN TARGET_INFO_GPU_METRICS AS m ON m.typeId == g.typeId AND m.metricId == g.metricId GROUP BY m.metricName""").fetchall()
by_name = {name: most for name, most, _ in rows}
assert len({count for _, _, count in rows}) == 1 and by_name["GR Active [Throughput %]"] == 100 and by_name["SMs Active [Throughput %]"] == 100, rows
assert by_name["PCIe RX Throughput [Throughput %]"] == 0 and all(0 <= most <= 100 for most in by_name.values()), rows
CHECK
verdict 'metrics as tables' $? "$work/log"
# Programs that do not come to their end.
for end in exit:_exit abort:signal\ 6 kill:signal\ 15 fault:signal\ 11 murder:signal\ 9; do
  rm -f "$work/t.json"
  "$warpbeam" timeline --host-scale 0 -o "$work/t.json" sudden.cu -- "${end%%:*}" >"$work/log" 2>&1
  [[ $? -ne 0 ]] && grep -q "^warpbeam timeline: the program ended by ${end#*:}; what is shown is up to there" "$work/log" && grep -q '"cat": "kernel", "name": "twice' "$work/t.json"
  verdict "a timeline of a program that ends by ${end%%:*}" $? "$work/log"
done
"$warpbeam" timeline --host-scale 0 -o "$work/t.json" sudden.cu -- fork >"$work/log" 2>&1 && [[ $(grep -c '"cat": "kernel"' "$work/t.json") == 2 ]]
verdict 'a timeline of a program that forks' $? "$work/log"
"$warpbeam" timeline --host-scale 0 -o "$work/none.json" sudden.cu -- nothing >"$work/log" 2>&1
grep -qx 'warpbeam timeline: the program used no GPU, or did not come to its end: there is no timeline' "$work/log"
verdict 'no timeline of a program that uses no GPU' $? "$work/log"
"$warpbeam" stats -r cuda_gpu_kern_summ streams.cu >"$work/log" 2>&1
grep -qx "warpbeam stats: there is no report 'cuda_gpu_kern_summ'; did you mean 'cuda_gpu_kern_sum'?" "$work/log"
verdict 'an unknown report' $? "$work/log"
"$warpbeam" timeline -o /dev/null/t.json streams.cu >"$work/log" 2>&1
grep -qx 'warpbeam timeline: /dev/null/t.json could not be written' "$work/log"
verdict 'a file that cannot be written' $? "$work/log"
for kind in html sqlite; do
  "$warpbeam" timeline -o "/nowhere/t.$kind" streams.cu >"$work/log" 2>&1
  [[ $? -eq 1 ]] && grep -q "^warpbeam timeline: /nowhere/t.$kind could not be written" "$work/log"
  verdict "a file of a folder that is not there, $kind" $? "$work/log"
done
"$warpbeam" stats -o /nowhere/t.csv streams.cu >"$work/log" 2>&1
grep -qx 'warpbeam stats: /nowhere/t.csv could not be written' "$work/log"
verdict 'tables that cannot be written' $? "$work/log"

# Several processes on one device and one clock; each has a file of its own, and ranks have their numbers.
for scale in 0 1; do
  timeout 120 "$warpbeam" run --clock device --host-scale $scale --device h200 processes.cu >"$work/log" 2>&1
  verdict "processes on one clock, --host-scale $scale" $? "$work/log"
done
on h200 vdso.cu >"$work/log" 2>&1
verdict 'the clock by the vdso' $? "$work/log"
"$warpbeam" nvcc -o "$work/sudden" sudden.cu >"$work/log" 2>&1
cat >"$work/ranks.sh" <<'RANKS'
for rank in 0 1; do OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=$rank "$1" exit & done
wait
RANKS
for kind in json sqlite; do
  "$warpbeam" timeline -o "$work/ranks.$kind" -- sh "$work/ranks.sh" "$work/sudden" >>"$work/log" 2>&1
done
"$warpbeam" timeline -o "$work/only.%r.json" -- sh "$work/ranks.sh" "$work/sudden" >>"$work/log" 2>&1
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "$warpbeam" timeline -o "$work/mine.json" "$work/sudden" fork >>"$work/log" 2>&1
python3 - "$work" >>"$work/log" 2>&1 <<'CHECK'
import json, os, sqlite3, sys
work = sys.argv[1]
for rank in (0, 1):
    own = json.load(open(f"{work}/ranks.rank{rank}.json"))
    assert own["distributedInfo"] == {"backend": "mpi", "rank": rank, "world_size": 2}, own["distributedInfo"]
    assert sum(e.get("cat") == "kernel" for e in own["traceEvents"]) == 1
    assert json.load(open(f"{work}/only.{rank}.json"))["distributedInfo"]["rank"] == rank
both = json.load(open(f"{work}/ranks.json"))["traceEvents"]
names = sorted(e["args"]["name"] for e in both if e["name"] == "process_name")
assert [n for n in names if n.startswith("rank")] == ["rank 0: sudden", "rank 1: sudden"] and len([n for n in names if "H200" in n]) == 2, names
assert len({(e["pid"], e["tid"]) for e in both if e.get("cat") == "kernel"}) == 2
db = sqlite3.connect(f"{work}/ranks.sqlite")
assert sorted(r[0] for r in db.execute("SELECT name FROM PROCESSES")) == ["rank 0: sudden", "rank 1: sudden"]
assert db.execute("SELECT COUNT(DISTINCT globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone() == (2,)
assert os.path.exists(f"{work}/ranks.rank1.sqlite") and os.path.exists(f"{work}/mine.rank1.json") and not os.path.exists(f"{work}/only.json")
CHECK
verdict 'a timeline for each rank' $? "$work/log"

# The same by a real mpirun, where there is one.
if command -v mpirun mpicc >/dev/null; then
  read -ra mpi_flags <<<"$(mpicc --showme:compile) $(mpicc --showme:link)"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  "$warpbeam" nvcc -o "$work/of_mpi" ranks.cu "${mpi_flags[@]}" >"$work/log" 2>&1
  verdict 'a program of ranks is built' $? "$work/log"
  for row in 2:1 3:1 4:1 4:4; do
    WARPBEAM_DEVICES=${row#*:} timeout 120 "$warpbeam" run --clock device --host-scale 0 -- mpirun -np "${row%:*}" "$work/of_mpi" >"$work/log" 2>&1 && grep -qx ok "$work/log"
    verdict "mpirun's ${row%:*} ranks on ${row#*:} devices" $? "$work/log"
  done
  timeout 120 "$warpbeam" timeline --host-scale 0 -o "$work/mpi.json" -- mpirun -np 3 "$work/of_mpi" >"$work/log" 2>&1 && python3 - "$work" >>"$work/log" 2>&1 <<'CHECK'
import json, sys
work = sys.argv[1]
whole = json.load(open(f"{work}/mpi.json"))["traceEvents"]
names = sorted(e["args"]["name"] for e in whole if e["name"] == "process_name")
assert [n for n in names if n.startswith("rank")] == [f"rank {k}: of_mpi" for k in range(3)], names
spans = []
for rank in range(3):
    own = json.load(open(f"{work}/mpi.rank{rank}.json"))
    assert own["distributedInfo"] == {"backend": "mpi", "rank": rank, "world_size": 3}, own["distributedInfo"]
    kernels = sorted((e["ts"], e["ts"] + e["dur"]) for e in own["traceEvents"] if e.get("cat") == "kernel")
    assert len(kernels) == 3, kernels
    spans.append(kernels)
alone = [s[1] for s in spans]  # in turn, on one clock
assert all(a[1] <= b[0] for a, b in zip(alone, alone[1:])), alone
at_once = [s[2] for s in spans]
assert max(s[0] for s in at_once) < min(s[1] for s in at_once), at_once
CHECK
  verdict "the timeline of mpirun's ranks" $? "$work/log"
  timeout 120 mpirun -np 2 "$warpbeam" timeline --host-scale 0 -o "$work/each.json" "$work/of_mpi" >"$work/log" 2>&1
  [[ -e $work/each.rank0.json && -e $work/each.rank1.json ]]
  verdict 'a timeline that each rank writes' $? "$work/log"
else
  echo 'skip: there is no mpirun'
fi

# Several devices of one process.
for device in k40 h200; do
  WARPBEAM_DEVICES=2 on $device peers.cu >"$work/log" 2>&1
  verdict "two devices, $device" $? "$work/log"
done
for kind in json sqlite; do
  WARPBEAM_DEVICES=2 "$warpbeam" timeline --host-scale 0 -o "$work/peers.$kind" peers.cu >"$work/log" 2>&1
done
python3 - "$work" >>"$work/log" 2>&1 <<'CHECK'
import json, sqlite3, sys
trace = json.load(open(f"{sys.argv[1]}/peers.json"))
assert [d["id"] for d in trace["deviceProperties"]] == [0, 1]
events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
between = [e for e in events if e["name"] == "Memcpy PtoP (Device -> Device)" and e["args"]["bytes"] > 4]
assert {e["pid"] for e in between} == {0, 1} and all(e["args"]["device"] == e["pid"] for e in between), between
assert {e["pid"] for e in events if e["cat"] == "kernel"} == {0, 1}
db = sqlite3.connect(f"{sys.argv[1]}/peers.sqlite")
ways = db.execute("SELECT srcDeviceId, dstDeviceId, COUNT(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 10 GROUP BY 1, 2 ORDER BY 1").fetchall()
assert [w[:2] for w in ways] == [(0, 1), (1, 0)] and sum(w[2] for w in ways) == len(between) + 2, ways
CHECK
verdict 'the timeline of two devices' $? "$work/log"

# A timeline for which there is no memory is cut, and says so.
echo 'MemAvailable: 1024 kB' >"$work/meminfo"
cat >"$work/short.sh" <<'SHORT'
mount --bind "$1/meminfo" /proc/meminfo && "$2" timeline --host-scale 0 -o "$1/short.json" many.cu
SHORT
if unshare -rm true 2>"$work/log"; then
  unshare -rm sh "$work/short.sh" "$work" "$warpbeam" >"$work/log" 2>&1 &&
    left_out=$(sed -n 's/^warpbeam timeline: \([0-9]*\) calls and operations are not in the timeline$/\1/p' "$work/log") &&
    python3 -c 'import json, sys; assert sum(e.get("cat") == "kernel" for e in json.load(open(sys.argv[1]))["traceEvents"]) == 20000 - int(sys.argv[2])' \
      "$work/short.json" "$left_out" >>"$work/log" 2>&1 && ((left_out > 5000 && left_out < 20000))
  verdict 'a timeline that does not fit' $? "$work/log"
else
  echo "skip: $(cat "$work/log")"
fi

# Kernels that kernels launch, in their order, the same for any number of threads.
for threads in 1 2; do
  WARPBEAM_THREADS=$threads "$warpbeam" timeline --host-scale 0 --device h200 -o "$work/children$threads.json" nested.cu >"$work/log" 2>&1
done
cmp "$work/children1.json" "$work/children2.json" >>"$work/log" 2>&1 && python3 - "$work/children1.json" >>"$work/log" 2>&1 <<'CHECK'
import json, sys
kernels = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e.get("cat") == "kernel"]
end = lambda e: e["ts"] + e["dur"]
named = lambda name: sorted((e for e in kernels if e["name"].startswith(name)), key=lambda e: e["ts"])
(parent,), chain, beside, inner, (tail,) = (named(n) for n in ("parent", "chain", "beside", "inner", "tail"))
assert (len(chain), len(beside), len(inner)) == (3, 2, 2), kernels
within = chain + beside + inner + [tail]
assert all(parent["ts"] <= e["ts"] and end(e) <= end(parent) + 0.01 for e in within)
assert all(end(a) <= b["ts"] + 0.001 for a, b in zip(chain, chain[1:])), "a stream is one after the other"
assert all(b["ts"] < end(chain[0]) for b in beside), "other streams go beside"
assert all(i["ts"] >= beside[0]["ts"] for i in inner) and {i["args"]["launched by"] for i in inner} == {"beside(float*)"}
assert tail["ts"] >= max(end(e) for e in within[:-1]) - 0.001, "the tail comes last"
rows = {}
for e in sorted(kernels, key=lambda e: e["ts"]):
    assert e["ts"] >= rows.get((e["pid"], e["tid"]), 0) - 0.002, e
    rows[e["pid"], e["tid"]] = end(e)
CHECK
verdict 'kernels that kernels launch' $? "$work/log"

# What nobody can mean.
for words in '--clock gpu' '--host-scale 1' '--clock device --host-scale fast' '--clock device --host-scale -1'; do
  # shellcheck disable=SC2086
  "$warpbeam" run $words streams.cu >"$work/log" 2>&1
  [[ $? -eq 1 && $(wc -l <"$work/log") -eq 1 ]]
  verdict "$words" $? "$work/log"
done
for word in many 0 33 -1 1e1 '4 '; do
  CUDA_DEVICE_MAX_CONNECTIONS=$word on h100 streams.cu >"$work/log" 2>&1
  [[ $? -eq 0 && $(grep -c CUDA_DEVICE_MAX_CONNECTIONS "$work/log") -eq 1 ]] && grep -q "^warpbeam: CUDA_DEVICE_MAX_CONNECTIONS=$word: a number from 1 to 32" "$work/log"
  verdict "CUDA_DEVICE_MAX_CONNECTIONS=$word" $? "$work/log"
done

echo "$passed passed, $failed failed"
((failed == 0))
