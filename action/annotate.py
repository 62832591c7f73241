"""Shows what `warpbeam check` found beside the lines of a change, and in the summary: annotate.py FINDINGS.json SUMMARY."""
import json
import os
import sys


def escaped(text, more=""):
    for c in "%\r\n" + more:
        text = text.replace(c, f"%{ord(c):02X}")
    return text


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        report = json.load(f)
    top = os.environ.get("GITHUB_WORKSPACE", os.getcwd())
    with open(sys.argv[2], "a", encoding="utf-8") as summary:
        summary.write(f"### Check: {report['errors']} errors, {report['warnings']} warnings\n\n")
        for finding in report["findings"]:
            file, _, line = (finding["locations"] or [""])[0].rpartition(":")
            where = ""
            if file:
                file = os.path.relpath(os.path.abspath(file), top)
                where = f"file={escaped(file, ':,')},line={line},"
            text = "\n".join([f"in {finding['kernel']}"] * bool(finding["kernel"]) + [d["text"] for d in finding["details"]] + [finding["mend"]] * bool(finding["mend"]))
            print(f"::{finding['severity']} {where}title={escaped(finding['title'], ':,')}::{escaped(text) or finding['kind']}")
            summary.write(f"* **{finding['title']}**{f' `{file}:{line}`' if file else ''}\n")


main()
