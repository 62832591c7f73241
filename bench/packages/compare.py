"""Compares one program's processor time with several libraries closely enough to see 2 % on a machine that others use.

Of each library a process waits on the same core and does some milliseconds of a row when asked; they are asked in turn, so that what slows one slows its
neighbours in time, half of the rounds in one direction (ABC ABC …) and half in the other (CBA CBA …): nobody comes twice in a row, who would find its data in
the caches. Of a set of processes the median of the paired ratios counts; where memory lies differs from process to process,
so sets are started anew, and the interval (95 %) is that over sets. A row ends as soon as its intervals lie within the limit, or clearly outside of it.
"""
import argparse
import math
import os
import statistics
import subprocess
import tempfile

# Student's t, two-sided 95 %, by degrees of freedom.
T95 = [0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09]


def interval(logarithms):
    """The mean and half the width of its interval."""
    n = len(logarithms)
    if n < 2:
        return logarithms[0], math.inf
    return statistics.fmean(logarithms), (T95[n - 1] if n <= len(T95) else 2.0) * statistics.stdev(logarithms) / math.sqrt(n)


class Side:
    """One library's process for one row."""

    def __init__(self, options, row, library, cache, more):
        environment = dict(os.environ, LD_LIBRARY_PATH=library, XDG_CACHE_HOME=cache)
        words = [options.program, "--on-request", "--only", row] + ([] if options.full else ["--quick"])
        self.more = more
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, {options.core}))
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("bench packages: bench_cpu ended early")
        return float(line)

    def time(self, calls):
        """The processor time of `calls` calls. A planted difference is work: more calls."""
        self.process.stdin.write(f"{calls + round(calls * self.more)}\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.communicate()


def one_set(options, row, libraries, caches):
    """For each library but the first, the logarithm of its time over the first's."""
    sides = {name: Side(options, row, library, caches[name], options.plant / 100 if name == options.planted else 0) for name, library in libraries.items()}
    try:
        order = list(sides)
        once = min(sides[order[0]].time(1) for _ in range(5))
        # A planted difference is at least one call of all.
        calls = max(math.ceil(options.slice / max(once, 1e-4)), math.ceil(100 / options.plant) if options.plant else 1)
        ratios = {name: [] for name in order[1:]}
        for name in order:
            sides[name].time(calls)
        forth = [{name: sides[name].time(calls) for name in order} for _ in range(options.rounds)]
        back = [{name: sides[name].time(calls) for name in reversed(order)} for _ in range(options.rounds)]
        for one in forth + back:
            for name in ratios:
                ratios[name].append(math.log(one[name] / one[order[0]]))
        return {name: statistics.median(values) for name, values in ratios.items()}, once
    finally:
        for side in sides.values():
            side.end()


def shown(mean, half):
    return f"{math.exp(mean):.3f} ±{100 * half:4.1f} %"


def main():
    words = argparse.ArgumentParser(prog="./warpbeam bench packages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--only", default="", metavar="NAME", help="only rows whose name contains NAME")
    words.add_argument("--limit", type=float, default=2, metavar="PERCENT", help="how near is near enough (2)")
    words.add_argument("--full", action="store_true", help="sizes of `bench cpu` instead of those of `bench cpu --quick`")
    words.add_argument("--plant", type=float, default=0, metavar="PERCENT", help="has the tarball do that much more work, to show that it is seen")
    words.add_argument("--sets", type=int, default=20, help="most sets of processes for a row (20)")
    words.add_argument("--rounds", type=int, default=20, help="rounds of a set in each direction (20)")
    words.add_argument("--slice", type=float, default=3, metavar="MS", help="how long one turn takes, about (3)")
    words.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core that all run on")
    words.add_argument("--program", help=argparse.SUPPRESS)
    words.add_argument("libraries", nargs="*", help=argparse.SUPPRESS)
    options = words.parse_args()
    libraries = dict(word.split("=", 1) for word in options.libraries)
    options.planted = list(libraries)[1]
    limit = math.log1p(options.limit / 100)
    rows = subprocess.run([options.program, "--on-request", "--only", "?"], env=dict(os.environ, LD_LIBRARY_PATH=libraries["build"]), check=True,
                          stdout=subprocess.PIPE, text=True).stdout.split()
    rows = [row for row in rows if options.only in row]
    others = list(libraries)[1:]
    print(f"| {'row':24} | {'ms':>8} | sets | " + " | ".join(f"{name + ' / build':15}" for name in others) + " |")
    print("|" + "-" * 26 + "|---------:|-----:|" + "|".join("-" * 17 for _ in others) + "|")
    means = {name: [] for name in others}
    far = set()
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: os.path.join(folder, name) for name in libraries}
        for row in rows:
            found = {name: [] for name in others}
            for count in range(1, options.sets + 1):
                ratios, once = one_set(options, row, libraries, caches)
                for name in others:
                    found[name].append(ratios[name])
                if count < 4:
                    continue
                ends = [interval(found[name]) for name in others]
                if all(abs(mean) + half <= limit or abs(mean) - half > limit for mean, half in ends):
                    break
            cells = []
            for name in others:
                mean, half = interval(found[name])
                means[name].append((mean, half))
                mark = "" if abs(mean) + half <= limit else "!" if abs(mean) - half > limit else "?"
                if mark == "!":
                    far.add(name)
                cells.append(f"{shown(mean, half) + ' ' + mark:15}")
            print(f"| {row:24} | {once:8.3f} | {count:4} | " + " | ".join(cells) + " |", flush=True)
    if not rows:
        raise SystemExit(f"bench packages: no row's name contains '{options.only}'")
    near = True
    for name in others:
        mean = statistics.fmean(m for m, _ in means[name])
        half = math.sqrt(sum(h * h for _, h in means[name])) / len(rows)
        inside = abs(mean) + half <= limit
        near = near and inside and name not in far
        undecided = sum(1 for m, h in means[name] if abs(m) + h > limit >= abs(m) - h)
        print(f"{name}: {shown(mean, half)} of the build's processor time over {len(rows)} rows, {'within' if inside else 'not within'} {options.limit:g} %"
              + (f"; {undecided} rows (?) are not decided" if undecided else "") + (", a row (!) is outside" if name in far else ""))
    raise SystemExit(0 if near else 1)


main()
