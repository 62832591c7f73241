#!/usr/bin/env python3
"""Draws each ladder of a results file as one SVG: a bar per rung, the copy and other ceilings as lines.

    algorithms/ladders/chart.py ladders.jsonl docs/images
"""
import json
import pathlib
import sys
from xml.sax.saxutils import escape

BAR, GAP, LEFT, WIDTH = 22, 8, 210, 520


def chart(title, rungs):
    ceilings = [("copy" if "copy" in r["rung"] else r["rung"], r["speed"]) for r in rungs
                if r.get("ceiling") or "copy" in r["rung"] and "device" in r["rung"]]
    bars = [r for r in rungs if r["rung"] != "device-to-device copy" and not r.get("ceiling")]
    unit = bars[0]["unit"]
    most = max([r["speed"] for r in bars] + [speed for _, speed in ceilings]) * 1.05
    height = 40 + len(bars) * (BAR + GAP) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 90}" height="{height}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="100%" height="100%" fill="white"/>',
           f'<text x="8" y="22" font-weight="bold">{escape(title)} ({escape(unit)})</text>']
    y = 36
    for r in bars:
        length = r["speed"] / most * WIDTH
        out.append(f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">{escape(r["rung"])}</text>')
        out.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" fill="#3b7dd8"/>')
        out.append(f'<text x="{LEFT + length + 6:.1f}" y="{y + 16}">{r["speed"]:,.1f}</text>')
        y += BAR + GAP
    for name, speed in ceilings:
        x = LEFT + speed / most * WIDTH
        out.append(f'<line x1="{x:.1f}" y1="30" x2="{x:.1f}" y2="{y}" stroke="#c33" stroke-dasharray="5 4"/>')
        out.append(f'<text x="{x:.1f}" y="{y + 14}" text-anchor="middle" fill="#c33">{escape(name)} {speed:,.0f}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    ladders = {}
    for line in source.read_text().splitlines():
        rung = json.loads(line)
        ladders.setdefault(rung["ladder"], []).append(rung)
    # A ladder that only reads has no copy of its own; it shows that of the others of the same run.
    copy = next((r for rungs in ladders.values() for r in rungs
                 if r["rung"] == "device-to-device copy" and r["unit"] == "GB/s"), None)
    for name, rungs in ladders.items():
        if copy and rungs[0]["unit"] == "GB/s" and all(r["rung"] != copy["rung"] for r in rungs):
            rungs.append(copy)
        file = folder / ("ladder-" + name.replace(", ", "-").replace(" ", "-") + ".svg")
        file.write_text(chart(name, rungs))
        print(file)


if __name__ == "__main__":
    main()
