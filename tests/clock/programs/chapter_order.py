"""Looks at the timeline of chapter.cu: what the chapter's text says of the order and of what goes on at once.

  chapter_order.py FILE.json one|many    one hardware queue, or one for each stream"""
import json
import sys

events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"]
one_queue = sys.argv[2] == "one"
ranges = {e["name"]: e for e in events if e["cat"] == "user_annotation"}
calls = {e["args"]["correlation"]: e for e in events if e["cat"] in ("cuda_runtime", "cuda_sync") and "correlation" in e.get("args", {})}


class Work:
    def __init__(self, e):
        self.cat, self.name, self.begin, self.end = e["cat"], e["name"], e["ts"], e["ts"] + e["dur"]
        self.stream, self.call = e["args"].get("stream"), calls[e["args"]["correlation"]]


def overlap(a, b):
    return a.begin < b.end - 0.01 and b.begin < a.end - 0.01


def within(name, cats=("kernel",)):
    r = ranges[name]
    found = [Work(e) for e in events if e["cat"] in cats and r["ts"] <= calls[e["args"]["correlation"]]["ts"] <= r["ts"] + r["dur"]]
    return sorted(found, key=lambda w: w.call["ts"])


def by_stream(works):
    streams = {}
    for w in works:
        streams.setdefault(w.stream, []).append(w)
    for each in streams.values():  # within a stream one thing after the other, as they were asked for
        assert all(a.end <= b.begin + 0.001 for a, b in zip(each, each[1:])), [(w.begin, w.end) for w in each]
    return list(streams.values())


def side_by_side(streams):
    for k in range(4):
        assert all(overlap(streams[0][k], s[k]) for s in streams[1:]), (k, [(s[k].begin, s[k].end) for s in streams])


depth = by_stream(within("depth"))
assert [len(s) for s in depth] == [4] * 4
if one_queue:  # false dependencies: only where one stream ends and the next one begins two kernels meet
    for a, b in zip(depth, depth[1:]):
        assert overlap(a[3], b[0]) and b[1].begin >= a[3].end - 0.01, [(w.begin, w.end) for w in a + b]
else:
    side_by_side(depth)
side_by_side(by_stream(within("breadth")))
if "openmp" in ranges:
    threads = {w.call["tid"] for w in within("openmp")}
    streams = by_stream(within("openmp"))
    assert len(threads) == 4 and [len(s) for s in streams] == [4] * 4, threads
    if not one_queue:
        side_by_side(streams)

before, before_too, apart, after, after_too = within("default")
assert before_too.end <= apart.begin + 0.001 and apart.end <= after.begin + 0.001

works = within("dependencies")
assert all(w.end <= works[-1].begin + 0.001 for w in works[:-1])

for name in ("add by depth", "add by breadth"):
    works = within(name, ("kernel", "gpu_memcpy"))
    by_stream(works)
    ups, downs, kernels = [w for w in works if "HtoD" in w.name], [w for w in works if "DtoH" in w.name], [w for w in works if w.cat == "kernel"]
    assert (len(ups), len(downs), len(kernels)) == (8, 4, 4), [w.name for w in works]
    for copies in (ups, downs):  # one engine for each direction
        assert not any(overlap(a, b) for i, a in enumerate(copies) for b in copies[i + 1:])
    assert any(overlap(k, u) for k in kernels for u in ups), "no kernel hides a copy"
    assert any(overlap(d, u) for d in downs for u in ups) or name == "add by breadth", "the directions do not overlap"

works = within("host beside", ("kernel", "gpu_memcpy"))
assert [w.cat for w in works] == ["gpu_memcpy", "kernel", "gpu_memcpy"]
polls = [e for e in calls.values() if e["name"].startswith("cudaEventQuery") and e["ts"] < works[-1].end]
assert len(polls) > 10 and any(works[0].begin < e["ts"] < works[0].end for e in polls), len(polls)

works = by_stream(within("callbacks", ("kernel", "gpu_user_annotation")))
for s in works:  # four kernels, the function, and what is behind waits for it
    assert [w.cat for w in s] == ["kernel"] * 4 + ["gpu_user_annotation", "kernel"], [w.cat for w in s]
print("ok")
