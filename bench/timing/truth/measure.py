#!/usr/bin/env python3
"""Measures the programs of bench/timing/kernels on this machine's GPU, with nvcc and ncu.

  measure.py OUT.json [--ptx FOLDER] [--runs N] [--no-counters] [--only nvcc|clang] [program ...]

OUT.json keeps what it has of other programs.

Times come from runs of their own, with what fits into one pass (no replay, the caches as the program leaves them).
Counters come from further runs, each with a group that fits into one pass as well. With --ptx the programs are built a
second time from FOLDER/NAME.ptx in place of the PTX of nvcc's front end, everything else being equal."""

import collections
import concurrent.futures
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels")
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
NCU = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
BUILD = os.environ.get("BUILD_DIR", "/tmp/timing-truth")

# The programs become shared objects, and one process runs them all (driver.cu).
COMMON = ["-O3", "-std=c++17", "-Xptxas", "-v", "-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-Bsymbolic", "-Dmain=program_main"]
TIMES = ["gpu__time_duration.sum"]  # alone: one counter beside it lengthens every kernel by 0.2 us on an H100
GROUPS = [  # metrics, and what ncu is told: counters of the second level and of memory must not come from replays of a kernel
    (["smsp__inst_executed.sum", "smsp__thread_inst_executed.sum", "sm__warps_active.avg.pct_of_peak_sustained_active",
      "smsp__cycles_active.avg", "smsp__issue_active.avg", "sm__cycles_elapsed.max"], []),
    (["dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors.sum", "lts__t_sectors_lookup_hit.sum", "lts__t_sectors_op_read.sum",
      "lts__t_sectors_op_write.sum", "lts__t_sectors_srcunit_tex.sum", "lts__t_sectors_srcunit_tex_lookup_hit.sum"],
     ["--replay-mode", "application"]),
    (["l1tex__t_sectors.sum", "l1tex__t_sectors_lookup_hit.sum", "l1tex__data_pipe_lsu_wavefronts.sum"], []),
]
# One instrumented run: executed instructions by opcode.
OPCODES = "sass__inst_executed_per_opcode"
LAUNCH = {
    "registers": "launch__registers_per_thread",
    "shared": "launch__shared_mem_per_block",
    "limit_blocks": "launch__occupancy_limit_blocks",
    "limit_registers": "launch__occupancy_limit_registers",
    "limit_shared": "launch__occupancy_limit_shared_mem",
    "limit_warps": "launch__occupancy_limit_warps",
}


def flags_of(source):
    first = open(source).readline()
    found = re.search(r"nvcc: (.*)", first)
    flags = found.group(1).split() if found else []
    return flags if any("code=" in f for f in flags) else ["-arch=sm_90"] + flags


def resources(text):
    """ptxas -v: entry name -> registers, spills, stack, shared."""
    out, name = {}, None
    for line in text.splitlines():
        m = re.search(r"Compiling entry function '(\S+)'", line)
        if m:
            name = m.group(1)
            out[name] = {}
        m = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if m and name and "stack" not in out[name]:
            out[name].update(stack=int(m.group(1)), spill_stores=int(m.group(2)), spill_loads=int(m.group(3)))
        m = re.search(r"Used (\d+) registers", line)
        if m and name:
            out[name]["registers"] = int(m.group(1))
            m = re.search(r"(\d+) bytes smem", line)
            out[name]["shared"] = int(m.group(1)) if m else 0
    return out


def build_plain(name):
    source, out = os.path.join(KERNELS, name + ".cu"), os.path.join(BUILD, "nvcc", name + ".so")
    run = subprocess.run([NVCC, *COMMON, *flags_of(source), source, "-o", out], capture_output=True, text=True)
    return run.returncode, run.stderr, resources(run.stderr)


# Functions of the device library: Warpbeam's PTX calls them by these names, and its own library defines them only as a
# program is loaded. Here nvcc's definitions take that place.
FUNCTIONS = {
    "float f(float)": "expf exp2f exp10f expm1f logf log2f log10f log1pf sinf cosf tanf sinpif cospif asinf acosf atanf sinhf coshf tanhf erff erfcf "
                      "cbrtf normcdff lgammaf tgammaf",
    "float f(float, float)": "powf atan2f fmodf hypotf",
    "double f(double)": "exp exp2 log log2 log10 sin cos tan sinpi cospi asin acos atan sinh cosh tanh erf erfc cbrt normcdf rsqrt",
    "double f(double, double)": "pow atan2 fmod hypot",
    "void f(float, float*, float*)": "sincosf sincospif",
    "void f(double, double*, double*)": "sincos sincospi",
}


def functions():
    """PTX of those functions, without its header."""
    source, out = os.path.join(BUILD, "functions.cu"), os.path.join(BUILD, "functions.ptx")
    with open(source, "w") as f:
        for kind, names in FUNCTIONS.items():
            result, types = re.match(r"(\w+) f\((.*)\)", kind).groups()
            types = types.split(", ")
            for n in names.split():
                formal = ", ".join(f"{t} a{i}" for i, t in enumerate(types))
                actual = ", ".join(f"a{i}" for i in range(len(types)))
                f.write(f'extern "C" __device__ __noinline__ {result} defined_{n}({formal}) {{ return {n}({actual}); }}\n')
    subprocess.run([NVCC, "-O3", "-arch=sm_90", "-rdc=true", "-ptx", source, "-o", out], check=True)
    text = open(out).read()
    text = text[text.index(".address_size 64") + len(".address_size 64"):]
    return re.sub(r"\.visible \.func", ".func", text).replace("defined_", "__nv_")


def with_functions(ptx, definitions):
    text = open(ptx).read()
    if not re.search(r"\.extern \.func[^;]*?__nv_", text):
        return ptx
    text = re.sub(r"\.extern \.func\s*(\([^)]*\)\s*)?__nv_\w+\s*\([^)]*\)\s*;", "", text)
    text = text.replace(".address_size 64", ".address_size 64\n" + definitions, 1)
    out = os.path.join(BUILD, os.path.basename(ptx))
    with open(out, "w") as f:
        f.write(text)
    return out


def build_replaced(name, ptx):
    """nvcc's own steps, with our PTX copied over what cicc wrote."""
    source, out = os.path.join(KERNELS, name + ".cu"), os.path.join(BUILD, "clang", name + ".so")
    dry = subprocess.run([NVCC, *COMMON, "-dryrun", *flags_of(source), source, "-o", out], capture_output=True, text=True)
    lines, done = ["set -e"], False
    for line in dry.stderr.splitlines():
        line = line.removeprefix("#$ ").strip()
        m = re.match(r"(TOP|CICC_PATH|NVVMIR_LIBRARY_DIR|LD_LIBRARY_PATH|PATH)=(.*)", line)
        if m:
            lines.append(f'export {m.group(1)}="{m.group(2).strip()}"')
            continue
        if re.match(r"_?[A-Z_]+_?=|rm ", line) or not line:
            continue
        lines.append(line)
        m = re.search(r'cicc".* -o "([^"]+\.ptx)"', line)
        if m:
            lines.append(f'cp "{ptx}" "{m.group(1)}"')
            done = True
    if not done:
        return 1, "no cicc step found", {}
    folder = os.path.join(BUILD, "clang", name + ".d")
    os.makedirs(folder, exist_ok=True)
    run = subprocess.run(["bash", "-c", "\n".join(lines).replace("/tmp/tmpxft_", folder + "/tmpxft_")], capture_output=True, text=True, cwd=folder)
    return run.returncode, run.stderr, resources(run.stderr)


def build_all(names, ptx):
    os.makedirs(os.path.join(BUILD, "nvcc"), exist_ok=True)
    os.makedirs(os.path.join(BUILD, "clang"), exist_ok=True)
    built = {"nvcc": {}, "clang": {}}
    definitions = functions() if ptx else ""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {("nvcc", n): pool.submit(build_plain, n) for n in names}
        if ptx:
            for n in names:
                if os.path.exists(os.path.join(ptx, n + ".ptx")):
                    jobs["clang", n] = pool.submit(build_replaced, n, with_functions(os.path.abspath(os.path.join(ptx, n + ".ptx")), definitions))
        for (variant, n), job in jobs.items():
            code, text, found = job.result()
            if code:
                print(f"{variant} {n}: not built\n{text[-1500:]}", file=sys.stderr)
            else:
                built[variant][n] = found
    return built


def number(text):
    text = text.replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return None
    if value != value:  # not a number: the launch was not measured
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def profile(variant, names, metrics, extra=()):
    """One ncu over all programs: [(program, row)] in the order of the launches."""
    log = os.path.join(BUILD, "ncu.csv")
    if os.path.exists(log):
        os.remove(log)
    began = time.time()
    call = ([NCU, "--clock-control", "none", "--cache-control", "none", "--print-units", "base", "--csv", "--page", "raw", "--log-file", log,
                    "--metrics", ",".join(metrics), *extra, os.path.join(BUILD, "driver"), *[f"{BUILD}/{variant}/{n}.so" for n in names]])
    try:
        subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
    except subprocess.TimeoutExpired:
        print(f"{metrics[0]}: did not end", file=sys.stderr)
    if not os.path.exists(log):
        return []
    rows, head = [], None
    with open(log, newline="") as f:
        lines = f.read().splitlines()
    for line in lines:
        if line.startswith("==ERROR==") or line.startswith("==WARNING==") and "Running with un" not in line:
            print(line, file=sys.stderr)
    program = None
    for row in csv.reader(l for l in lines if l.startswith('"')):
        if head is None:
            head = row
        elif row[0].isdigit():
            entry = dict(zip(head, row))
            if entry["Kernel Name"].startswith("program_marker"):
                program = names[integers(entry["Grid Size"])[0] - 1]
            elif program:
                rows.append((program, entry))
    print(f"{variant} {metrics[0]}: {time.time() - began:.0f} s, {len(rows)} launches", file=sys.stderr, flush=True)
    return rows


def integers(text):
    return [int(v) for v in re.findall(r"\d+", text)]


def measure_times(variant, names, programs, runs):
    runs_of = collections.defaultdict(list)
    for _ in range(runs):
        one = collections.defaultdict(list)
        for program, row in profile(variant, names, TIMES):
            if number(row["gpu__time_duration.sum"]) is not None:
                one[program].append(row)
        for program, rows in one.items():
            runs_of[program].append(rows)
    for program, all_runs in runs_of.items():
        longest = max(all_runs, key=len)
        same = [r for r in all_runs if len(r) == len(longest)]
        if len(same) != len(all_runs):
            print(f"{program}: runs of different lengths", file=sys.stderr)
        entry = []
        for i, row in enumerate(longest):
            ns = [number(r[i]["gpu__time_duration.sum"]) for r in same]
            launch = {"kernel": row["Kernel Name"], "grid": integers(row["Grid Size"]), "block": integers(row["Block Size"]),
                      "ns": statistics.median(ns), "ns_min": min(ns), "ns_max": max(ns)}
            for short, long in LAUNCH.items():
                launch[short] = number(row.get(long, ""))
            passes = number(row.get("profiler__replayer_passes", "1"))
            if passes != 1:
                launch["time_passes"] = passes
            entry.append(launch)
        before = programs.get(program, {}).get("launches", [])
        if [(l["kernel"], l["grid"], l["block"]) for l in before] == [(l["kernel"], l["grid"], l["block"]) for l in entry]:
            for old, new in zip(before, entry):  # what else is known of the launches stays
                old.update(new)
        else:
            programs.setdefault(program, {})["launches"] = entry


def measure_counters(variant, names, programs, group, extra):
    position = collections.Counter()
    for program, row in profile(variant, names, group, extra):
        i = position[program]
        position[program] += 1
        entry = programs.get(program, {}).get("launches", [])
        if i >= len(entry) or entry[i]["kernel"] != row["Kernel Name"]:
            continue
        if group == [OPCODES]:
            pairs = re.findall(r"([A-Z][A-Z0-9_.]*): ?([\d,]+)", row.get(OPCODES, ""))
            entry[i]["opcodes"] = {k: number(v) for k, v in pairs} or row.get(OPCODES, "")
            continue
        for metric in group:
            value = number(row.get(metric, ""))
            if value is not None:
                entry[i].setdefault("counters", {})[metric] = value


COLUMNS = {  # of a launch: short name -> counter
    "cycles": "sm__cycles_elapsed.max", "instructions": "smsp__inst_executed.sum", "thread_instructions": "smsp__thread_inst_executed.sum",
    "warps_active_pct": "sm__warps_active.avg.pct_of_peak_sustained_active", "cycles_active": "smsp__cycles_active.avg",
    "issue_active": "smsp__issue_active.avg", "dram_read": "dram__bytes_read.sum", "dram_write": "dram__bytes_write.sum",
    "l2_sectors": "lts__t_sectors.sum", "l2_hits": "lts__t_sectors_lookup_hit.sum", "l2_read": "lts__t_sectors_op_read.sum",
    "l2_write": "lts__t_sectors_op_write.sum", "l2_from_l1": "lts__t_sectors_srcunit_tex.sum",
    "l2_from_l1_hits": "lts__t_sectors_srcunit_tex_lookup_hit.sum", "l1_sectors": "l1tex__t_sectors.sum",
    "l1_hits": "l1tex__t_sectors_lookup_hit.sum", "l1_requests": "l1tex__t_requests.sum",
    "shared_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
}


def packed(result):
    """The file: a line for each kernel (with what is the same in all its launches) and each launch."""
    lines = [json.dumps(k) + ": " + json.dumps(v) for k, v in result.items() if k not in ("nvcc", "clang", "resources")]
    for variant in ("nvcc", "clang"):
        if variant not in result:
            continue
        used = [c for c, m in COLUMNS.items() if any(m in l.get("counters", {}) for p in result[variant].values() for l in p["launches"])]
        columns = ["kernel", "ns", "ns_min", "ns_max"] + used
        programs = []
        for name in sorted(result[variant]):
            kernels, index, launches = [], {}, []
            for l in result[variant][name]["launches"]:
                fixed = {k: l[k] for k in ("kernel", "grid", "block", *LAUNCH) if k in l}
                fixed["opcodes"] = l.get("opcodes", {})
                key = json.dumps(fixed, sort_keys=True)
                if key not in index:
                    index[key] = len(kernels)
                    kernels.append(json.dumps(fixed, separators=(",", ":")))
                launches.append(json.dumps([index[key], l["ns"], l["ns_min"], l["ns_max"]] +
                                           [l.get("counters", {}).get(COLUMNS[c]) for c in used], separators=(",", ":")))
            ptxas = json.dumps(result["resources"][variant].get(name, {}), separators=(",", ":"))
            programs.append(f'{json.dumps(name)}: {{"ptxas": {ptxas},\n"kernels": [\n' + ",\n".join(kernels) + '],\n"launches": [\n' +
                            ",\n".join(launches) + "]}")
        lines.append(f'"{variant}": {{"columns": {json.dumps(columns)}, "programs": {{\n' + ",\n".join(programs) + "}}")
    return "{" + ",\n".join(lines) + "}\n"


def unpacked(text):
    """The inverse of `packed`."""
    result = json.loads(text)
    result["resources"] = {"nvcc": {}, "clang": {}}
    for variant in ("nvcc", "clang"):
        if variant not in result:
            continue
        columns, programs = result[variant]["columns"], {}
        for name, entry in result[variant]["programs"].items():
            launches = []
            for row in entry["launches"]:
                values = dict(zip(columns, row))
                launch = dict(entry["kernels"][values["kernel"]])
                launch.update({k: values[k] for k in ("ns", "ns_min", "ns_max")})
                launch["counters"] = {m: values[c] for c, m in COLUMNS.items() if values.get(c) is not None}
                launches.append(launch)
            programs[name] = {"launches": launches}
            result["resources"][variant][name] = entry["ptxas"]
        result[variant] = programs
    return result


def in_order(names):
    """Sorted, but programs that launch from the device last: profilers have trouble with them."""
    return sorted(names, key=lambda n: ("-rdc=true" in flags_of(os.path.join(KERNELS, n + ".cu")), n))


def main():
    arguments, names = sys.argv[1:], []
    out, ptx, runs, counters, only = arguments.pop(0), None, 3, True, None
    while arguments:
        word = arguments.pop(0)
        if word == "--ptx":
            ptx = arguments.pop(0)
        elif word == "--runs":
            runs = int(arguments.pop(0))
        elif word == "--no-counters":
            counters = False
        elif word == "--only":
            only = arguments.pop(0)
        else:
            names.append(word)
    names = names or [f[:-3] for f in os.listdir(KERNELS) if f.endswith(".cu")]
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem", "--format=csv,noheader"], capture_output=True,
                         text=True).stdout.strip().split(", ")
    version = subprocess.run([NVCC, "--version"], capture_output=True, text=True).stdout
    result = {"card": smi[0], "driver": smi[1], "sm_clock_max": smi[2], "memory_clock_max": smi[3],
              "nvcc_version": re.search(r"V([\d.]+)", version).group(1)}
    began = time.time()
    os.makedirs(BUILD, exist_ok=True)
    subprocess.run([NVCC, "-O2", "-arch=sm_90", os.path.join(HERE, "driver.cu"), "-o", os.path.join(BUILD, "driver"), "-ldl"], check=True)
    built = build_all(names, ptx)
    print(f"built in {time.time() - began:.0f} s", file=sys.stderr, flush=True)
    if os.path.exists(out):  # keep the programs that are not measured now
        result = {**unpacked(open(out).read()), **result}
    for variant in built:
        result.setdefault("resources", {}).setdefault(variant, {}).update(built[variant])
    variants = [v for v in ["nvcc", "clang"] if built[v] and only in (None, v)]

    def save():
        with open(out, "w") as f:
            f.write(packed(result))

    # The second build is for instruction counts above all.
    for variant in variants:
        measure_times(variant, in_order(built[variant]), result.setdefault(variant, {}), runs if variant == "nvcc" else max(1, runs - 1))
        save()
        for group, extra in GROUPS + [([OPCODES], ["--print-metric-instances", "details"])] if counters else []:
            if variant == "nvcc" or group in ([OPCODES], GROUPS[0][0]):
                measure_counters(variant, in_order(built[variant]), result.setdefault(variant, {}), group, extra)
                save()


if __name__ == "__main__":
    main()
