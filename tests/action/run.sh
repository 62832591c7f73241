#!/usr/bin/env bash
# The action's steps, started as a runner starts them: with its variables and files, one after the other. Ends with "N passed, N failed".
set -u
here=$(cd -- "$(dirname -- "$0")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
build=${WARPBEAM_BUILD:-$root/build/release}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export GITHUB_ACTION_PATH=$root GITHUB_WORKSPACE="$work/the project" GITHUB_PATH=$work/path GITHUB_ENV=$work/env GITHUB_OUTPUT=$work/output
export GITHUB_STEP_SUMMARY=$work/summary RUNNER_TEMP=$work/temp XDG_CACHE_HOME=$work/cache GITHUB_ACTIONS=true
unset WARPBEAM_DEVICE WARPBEAM_DEVICES CUDA_HOME
mkdir -p "$GITHUB_WORKSPACE" "$RUNNER_TEMP"
cd -- "$GITHUB_WORKSPACE" || exit 1
passed=0 failed=0

ok() { # name, status of what was looked at
  if [[ $2 == 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1"
    [[ ! -e $work/log ]] || tail -n 20 -- "$work/log"
  fi
}

# What action.yml runs, with the inputs that are given as NAME=VALUE: the defaults and the environment of a step are read from there.
step() { # id, inputs...
  local id=$1 status
  shift
  : >"$GITHUB_OUTPUT"
  python3 - "$root/action.yml" "$id" "$@" >"$work/step.sh" <<'EOF'
import re, shlex, sys
text = open(sys.argv[1]).read()
inputs = {}
for name, default in re.findall(r"^  ([\w-]+):\n    description: .*\n    default: (.*)$", text, re.M):
    inputs[name] = default.strip("'")
for word in sys.argv[3:]:
    name, _, value = word.partition("=")
    assert name in inputs or name in ("root", "cache-hit"), name
    inputs[name] = value
body = re.search(rf"^    - id: {sys.argv[2]}\n((?:      .*\n)*)", text, re.M)[1]
for name, value in re.findall(r"^        (\w+): (.*)$", body, re.M):
    value = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], value)
    value = re.sub(r"\$\{\{ steps\.\w+\.outputs\.(root|cache-hit) \}\}", lambda m: inputs.get(m[1], ""), value)
    assert "${{" not in value, value
    print(f"export {name}={shlex.quote(value)}")
print(re.search(r"^      run: '(.*)'$", body, re.M)[1])
EOF
  bash --noprofile --norc -eo pipefail "$work/step.sh" >"$work/log" 2>&1
  status=$?
  return $status
}

cat >good.cu <<'EOF'
#include <cstdio>
__global__ void twice(int* x) { *x *= 2; }
int main() {
  int* x;
  cudaMallocManaged(&x, sizeof *x);
  *x = 21;
  twice<<<1, 1>>>(x);
  if (cudaDeviceSynchronize()) return 1;
  std::printf("%d\n", *x);
  cudaFree(x);
}
EOF
cat >'bad one.cu' <<'EOF'
__global__ void past(int* x) { x[threadIdx.x] = 1; }
int main() {
  int* x;
  cudaMalloc(&x, 16);
  past<<<1, 32>>>(x);
  cudaDeviceSynchronize();
}
EOF

step setup package="$build" device=a100
ok 'setup of a folder' $?
grep -qx "$build/bin" "$GITHUB_PATH" && grep -qx "CUDA_HOME=$build" "$GITHUB_ENV" && grep -qx 'WARPBEAM_DEVICE=a100' "$GITHUB_ENV" && grep -qx "root=$build" "$GITHUB_OUTPUT"
ok 'setup tells where it is' $?
export WARPBEAM_DEVICE=a100

step work root="$build" command='nvidia-smi -L; nvcc good.cu -o good && ./good'
ok 'run' $?
grep -q 'A100' "$work/log" && grep -qx 42 "$work/log"
ok 'run: tools and programs' $?
! step work root="$build" command='false | cat'
ok 'run: a command that fails' $?

step work root="$build" mode=check command=good.cu
ok 'check of a program that is right' $?
! step work root="$build" mode=check command='"bad one.cu"' sarif='found here.sarif'
ok 'check of one that is not' $?
grep -qE '^::error file=bad one.cu,line=1,title=.*write.*::in past' "$work/log" && grep -q 'bad one.cu:1' "$GITHUB_STEP_SUMMARY" && grep -qx 'sarif=found here.sarif' "$GITHUB_OUTPUT"
ok 'check: annotations, summary, output' $?
python3 - 'found here.sarif' <<'EOF'
import json, sys
run, = json.load(open(sys.argv[1]))["runs"]
result = run["results"][0]
place = result["locations"][0]["physicalLocation"]
assert place["artifactLocation"] == {"uri": "bad%20one.cu", "uriBaseId": "%SRCROOT%"}, place
assert place["region"]["startLine"] == 1 and result["level"] == "error"
assert result["ruleId"] in [rule["id"] for rule in run["tool"]["driver"]["rules"]]
assert "past" in result["message"]["text"]
EOF
ok 'check: SARIF' $?

step work root="$build" mode=profile command='--set exact good.cu'
ok 'profile' $?
grep -q launch__registers_per_thread "$GITHUB_STEP_SUMMARY"
ok 'profile: summary' $?
! step work root="$build" mode=dream command=x && grep -q '^::error' "$work/log"
ok 'a mode that does not exist' $?

# A release, where the server has it: a tarball of this build.
mkdir -p "$work/server/some/body/releases/download/v0.2.0" "$work/warpbeam-0.2.0/bin"
printf '#!/bin/sh\nexec "%s/bin/warpbeam" "$@"\n' "$build" >"$work/warpbeam-0.2.0/bin/warpbeam"
chmod +x "$work/warpbeam-0.2.0/bin/warpbeam"
tar czf "$work/server/some/body/releases/download/v0.2.0/warpbeam-0.2.0-linux-x86_64.tar.gz" -C "$work" warpbeam-0.2.0
export GITHUB_SERVER_URL=file://$work/server GITHUB_ACTION_REPOSITORY=some/body
step setup version=0.2.0
ok 'setup of a release' $?
grep -qx "root=$RUNNER_TEMP/warpbeam\.[^/]*/warpbeam-0.2.0" "$GITHUB_OUTPUT"
ok 'setup of a release tells where it is' $?
mkdir -p "$work/server/some/body/releases/download/v0.1.0"
tar czf "$work/server/some/body/releases/download/v0.1.0/warpbeam-0.1.0-linux-x86_64.tar.gz" -C "$work" --transform s/0.2.0/0.1.0/ warpbeam-0.2.0
step setup version=0.1.0 && grep -qx "root=$RUNNER_TEMP/warpbeam\.[^/]*/warpbeam-0.1.0" "$GITHUB_OUTPUT"
ok 'another version in the same job' $?
! step setup version=9.9.9 && grep -q '^::error.*cannot be fetched' "$work/log"
ok 'a release that does not exist' $?
if [[ $build == "$root/build/release" && -e $build/.built ]]; then
  step setup version=source && grep -qx "root=$build" "$GITHUB_OUTPUT"
  ok 'setup of the sources' $?
fi

# The sources with a build that the cache gave back: the checkout's files are newer, and cmake and ninja would fail.
mkdir -p "$work/cached/src" "$work/cached/build/release/bin" "$work/none"
cp -r "$root/action" "$root/warpbeam" "$root/CMakeLists.txt" "$root/CMakePresets.json" "$root/cmake" "$work/cached"
cp "$work/warpbeam-0.2.0/bin/warpbeam" "$work/cached/build/release/bin"
printf '%s\n' "$work/cached" >"$work/cached/build/release/.built"
touch -d '1 hour ago' "$work/cached/build/release/.built"
: >"$work/cached/src/newer.cc"
printf '#!/bin/sh\nexit 1\n' >"$work/none/cmake"
chmod +x "$work/none/cmake"
cp "$work/none/cmake" "$work/none/ninja"
before=$PATH GITHUB_ACTION_PATH=$work/cached PATH=$work/none:$PATH
step setup version=source cache-hit=true && grep -qx "root=$work/cached/build/release" "$GITHUB_OUTPUT"
ok 'setup of sources whose build was in the cache' $?
touch -d '1 hour ago' "$work/cached/build/release/.built"
! step setup version=source cache-hit=false && grep -q '^::error.*could not be built' "$work/log"
ok 'setup of sources that were edited' $?
GITHUB_ACTION_PATH=$root PATH=$before

! step setup package="$work/nothing.tar.gz" && grep -q '^::error.*no tarball' "$work/log"
ok 'a package that is none' $?
! step setup package="$build" device=nothing && grep -q '^::error' "$work/log"
ok 'a device that does not exist' $?

for file in "$root"/examples/workflows/*.yml; do
  used=$(grep -oE 'with: \{.*\}' "$file" | grep -oE '[a-z_-]+:' | sort -u | tr -d :)
  wrong=
  for name in $used; do
    case $name in with | sarif_file | python-version) continue ;; esac
    grep -qE "^  $name:" "$root/action.yml" || wrong=$name
  done
  ok "${file##*/}: inputs exist ($wrong)" "$([[ -z $wrong ]]; echo $?)"
done

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
