"""Runs the steps of a workflow of examples/workflows as a runner would: workflow.py WORKFLOW PROJECT ACTION RUNNER_TEMP.

The action's own steps run from ACTION (this repository); checkout and setup-python have nothing to do; what upload-sarif would send must be there.
Reads the part of YAML that the examples use. GITHUB_SERVER_URL and GITHUB_ACTION_REPOSITORY say where releases are.
"""
import json
import os
import re
import subprocess
import sys

workflow, project, action, temp = (os.path.abspath(a) for a in sys.argv[1:5])
files = {name: os.path.join(temp, name) for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
env = {**os.environ, **files, "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": project, "GITHUB_ACTION_PATH": action, "RUNNER_TEMP": temp}
outputs = {}


def mapping(text):
    """{a: b, c: 'd'}, or the same as lines."""
    text = text.strip().removeprefix("{").removesuffix("}") if text.strip().startswith("{") else text
    return {k: v.strip("'") for k, v in re.findall(r"([\w-]+): ('[^']*'|(?:[^,{]|\$\{\{.*?\}\})+)(?:,|$)", text)}


def steps(text):
    body = text.split("    steps:\n", 1)[1]
    for block in re.split(r"^      - ", body, flags=re.M)[1:]:
        step = {}
        for line in block.splitlines():
            key, value = re.match(r" *([\w-]+): (.*)", line).groups()
            step[key] = mapping(value) if key in ("with", "env") else value
        yield step


def told(value):
    return re.sub(r"\$\{\{ steps\.(\w+)\.outputs\.([\w-]+) \}\}", lambda m: outputs.get(m[1], {}).get(m[2], ""), value)


def shell(script, more=()):
    """Runs it and takes over what it told the runner. Its outputs and status."""
    for file in files.values():
        if file != files["GITHUB_STEP_SUMMARY"]:
            open(file, "w").close()
    status = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=project, env={**env, **dict(more)}).returncode
    read = {name: open(file).read() for name, file in files.items() if os.path.exists(file)}
    for line in read["GITHUB_ENV"].splitlines():
        name, _, value = line.partition("=")
        env[name] = value
    for line in read["GITHUB_PATH"].splitlines():
        env["PATH"] = f"{line}:{env['PATH']}"
    return dict(line.split("=", 1) for line in read["GITHUB_OUTPUT"].splitlines()), status


def act(given):
    """action.yml, whose inputs have these values and else their defaults."""
    text = open(os.path.join(action, "action.yml")).read()
    inputs = {name: default.strip("'") for name, default in re.findall(r"^  ([\w-]+):\n    description: .*\n    default: (.*)$", text, re.M)}
    assert set(given) <= set(inputs), given
    inputs.update({name: told(value) for name, value in given.items()})
    root, found = "", {}
    for name, wanted in (("setup", True), ("work", inputs["command"] != "")):
        if not wanted:
            continue
        body = re.search(rf"^    - id: {name}\n((?:      .*\n)*)", text, re.M)[1]
        more = {}
        for key, value in re.findall(r"^        (\w+): (.*)$", body, re.M):
            value = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], value)
            more[key] = value.replace("${{ steps.setup.outputs.root }}", root).replace("${{ steps.built.outputs.cache-hit }}", "")
        result, status = shell(re.search(r"^      run: '(.*)'$", body, re.M)[1], more.items())
        root = result.get("root", root)
        found.update(result)
        if status:
            return found, status
    return found, 0


failed = 0
for step in steps(open(workflow).read()):
    name = step.get("uses", step.get("run"))
    print(f"--- {name} {step.get('with', '')}", flush=True)
    # `if: always() && steps.x.outputs.y != ''`
    wanted = re.findall(r"steps\.(\w+)\.outputs\.(\w+) != ''", step.get("if", ""))
    if (failed and "always()" not in step.get("if", "")) or not all(outputs.get(a, {}).get(b) for a, b in wanted):
        print("    left out")
        continue
    result, status = {}, 0
    if "run" in step:
        result, status = shell(told(step["run"]), {k: told(v) for k, v in step.get("env", {}).items()}.items())
    elif step["uses"].startswith("warpbeam/warpbeam@"):
        result, status = act(step.get("with", {}))
    elif step["uses"].startswith("github/codeql-action/upload-sarif@"):
        json.load(open(os.path.join(project, told(step["with"]["sarif_file"]))))["runs"]
        print("    there is what it sends")
    if "id" in step:
        outputs[step["id"]] = result
    if status:
        print(f"    exit status {status}")
        failed = status
sys.exit(failed)
