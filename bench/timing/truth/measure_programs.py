#!/usr/bin/env python3
"""Runs the programs of bench/timing/programs on this machine's GPU and records what they print.

  measure_programs.py OUT.json [--runs N] [program ...]

A program prints lines `name: value unit`; the file has for each [median, smallest, largest, unit] of the runs."""

import collections
import concurrent.futures
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "programs")
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
BUILD = os.environ.get("BUILD_DIR", "/tmp/timing-programs")


def build(name):
    return subprocess.run([NVCC, "-O3", "-std=c++17", "-arch=sm_90", os.path.join(PROGRAMS, name + ".cu"), "-o", os.path.join(BUILD, name)]).returncode


def main():
    arguments, names, runs = sys.argv[1:], [], 7
    out = arguments.pop(0)
    while arguments:
        word = arguments.pop(0)
        if word == "--runs":
            runs = int(arguments.pop(0))
        else:
            names.append(word)
    names = names or sorted(f[:-3] for f in os.listdir(PROGRAMS) if f.endswith(".cu"))
    os.makedirs(BUILD, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = [n for n, code in zip(names, pool.map(build, names)) if code == 0]
    found = {n: collections.defaultdict(list) for n in built}
    units = {}
    for _ in range(runs):
        for n in built:
            run = subprocess.run([os.path.join(BUILD, n)], capture_output=True, text=True, timeout=60)
            if run.returncode:
                print(f"{n}: {run.returncode} {run.stderr[-300:]}", file=sys.stderr)
            for key, value, unit in re.findall(r"^(\S+): ([\d.]+) (\S+)$", run.stdout, re.M):
                found[n][key].append(float(value))
                units[n, key] = unit
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip().split(", ")
    cpu = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    parts = []
    for n in built:
        rows = [f"{json.dumps(k)}: {json.dumps([statistics.median(v), min(v), max(v), units[n, k]])}" for k, v in found[n].items()]
        parts.append(json.dumps(n) + ": {\n" + ",\n".join(rows) + "}")
    with open(out, "w") as f:
        f.write(f'{{"card": {json.dumps(smi[0])}, "driver": {json.dumps(smi[1])}, "processor": {json.dumps(cpu.group(1) if cpu else "")}, "runs": {runs},\n'
                '"programs": {\n' + ",\n".join(parts) + "}}\n")


if __name__ == "__main__":
    main()
