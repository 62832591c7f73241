#!/usr/bin/env bash
# What happens to Warpbeam from outside: it is killed, gets no threads, files or disk. The next run is right, or an error says what is
# missing. OUTSIDE_KILLS says how many times to kill (12). Usage: run.sh [filter]; ends with "N passed, N failed, N skipped".
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam
filter=${1:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-outside.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
unset WARPBEAM_DEVICE WARPBEAM_TOOL WARPBEAM_ENGINE
export XDG_CACHE_HOME=$work/cache
"$warpbeam" nvcc -O2 "$here/many.cu" -o "$work/many" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
chmod -R a+rX "$work"

# as_another LIMIT COMMAND...: under another user's number, who has no other processes, with a limit of the shell's.
as_another() {
  local limit=$1
  shift
  (eval "ulimit $limit" && exec timeout 60 setpriv --reuid=65533 --clear-groups "$@")
}
needs_root() { [[ $EUID == 0 ]] && setpriv --reuid=65533 --clear-groups true 2>/dev/null || return 77; }

case_many_streams_events_and_threads() {
  local engine
  for engine in interpreter auto; do
    WARPBEAM_ENGINE=$engine timeout 120 "$work/many" streams 10000 && WARPBEAM_ENGINE=$engine timeout 120 "$work/many" events 1000000 &&
      WARPBEAM_ENGINE=$engine timeout 120 "$work/many" threads 64 40 || return 1
  done
}

# A new program each time, so that building it, keeping it and running it are all under way.
case_killed_runs() {
  local k got
  for ((k = 0; k < ${OUTSIDE_KILLS:-12}; ++k)); do
    printf '#include <cstdio>\n__global__ void k(int* p) { *p = %d; }\nint main() { int *p, n; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaMemcpy(&n, p, 4, cudaMemcpyDefault); printf("%%d", n); }\n' $k >killed.cu
    touch -d '1 hour ago' killed.cu
    timeout -s KILL "0.$((RANDOM % 10))$((RANDOM % 10))" "$warpbeam" run killed.cu >/dev/null 2>&1
    got=$(timeout 60 "$warpbeam" run killed.cu 2>err)
    [[ $got == "$k" ]] || { echo "    after being killed: '$got' instead of $k"; cat err; return 1; }
  done
}
case_killed_while_kernels_are_kept() {
  local k
  for ((k = 0; k < ${OUTSIDE_KILLS:-12}; ++k)); do
    WARPBEAM_ENGINE=jit WARPBEAM_KERNEL_CACHE=$PWD/kernels$((k % 3)) timeout -s KILL "0.0$((RANDOM % 10))$((RANDOM % 10))" "$work/many" threads 4 20 >/dev/null 2>&1
    WARPBEAM_ENGINE=jit WARPBEAM_KERNEL_CACHE=$PWD/kernels$((k % 3)) timeout 60 "$work/many" threads 4 5 >out 2>&1 || { cat out; return 1; }
  done
}
# What was there is there whole, or the new one is.
case_killed_while_recording() {
  local k
  cp "$here/many.cu" r.cu && touch -d '1 hour ago' r.cu && "$warpbeam" profile --set basic --json r.json r.cu -- streams 20 >out 2>&1 || { cat out; return 1; }
  for ((k = 0; k < ${OUTSIDE_KILLS:-12} / 2; ++k)); do
    timeout -s KILL "0.$((RANDOM % 7))$((RANDOM % 10))" "$warpbeam" profile --set basic --json r.json r.cu -- streams $((20 + k)) >/dev/null 2>&1
    "$warpbeam" report r.json --html r.html >out 2>&1 || { cat out; return 1; }
  done
}

case_no_threads() {
  needs_root || return
  as_another '-u 2' env WARPBEAM_THREADS=4 "$work/many" streams 10 >out 2>&1 || { cat out; return 1; }
  as_another '-u 1' "$work/many" streams 10 >out 2>&1
  (($? == 1)) && grep -q 'no thread for the device' out || { cat out; return 1; }
}
case_few_files() {
  (ulimit -n 20 && "$work/many" streams 100) && (ulimit -n 12 && timeout 60 "$work/many" threads 8 4)
}
case_no_memory() {
  (ulimit -v 3000000 && timeout 60 "$work/many" threads 4 4) >out 2>&1
  (($? == 0 || $? == 1)) && grep -qE 'PASSED|memory|address space' out || { cat out; return 1; }
}
case_few_addresses() { # as clusters give
  (ulimit -v 6000000 && timeout 60 "$work/many" streams 100) >out 2>&1 || { cat out; return 1; }
}
case_full_disks() {
  needs_root || return
  unshare -m mount -t tmpfs none /mnt 2>/dev/null || return 77
  export many=$here/many.cu warpbeam work
  # No room for the cache; then room for that, and none for temporary files.
  unshare -m bash -c 'mount -t tmpfs -o size=2m none /mnt && XDG_CACHE_HOME=/mnt "$warpbeam" run "$many" -- streams 10' >out 2>&1 || { cat out; return 1; }
  unshare -m bash -c 'mount -t tmpfs -o size=100k none /mnt && dd if=/dev/zero of=/mnt/full bs=1k >/dev/null 2>&1; TMPDIR=/mnt XDG_CACHE_HOME=/mnt "$warpbeam" run -O1 "$many" -- streams 10' >out 2>&1
  (($? == 1)) && grep -q 'No space left on device' out || { cat out; return 1; }
  unshare -m bash -c 'mount -t tmpfs -o size=100k none /mnt && dd if=/dev/zero of=/mnt/full bs=1k >/dev/null 2>&1; WARPBEAM_KERNEL_CACHE=/mnt/k WARPBEAM_ENGINE=jit "$work/many" threads 4 4' >out 2>&1 || { cat out; return 1; }
  unshare -m bash -c 'mount -t tmpfs -o size=100k none /mnt && "$warpbeam" profile --json /mnt/r.json "$many" -- streams 30' >out 2>&1
  (($? != 0)) && grep -q 'could not be written' out || { cat out; return 1; }
}
case_no_shared_memory() {
  needs_root || return
  unshare -m mount -t tmpfs none /mnt 2>/dev/null || return 77
  export many=$here/many.cu warpbeam work
  unshare -m bash -c 'mount -t tmpfs -o ro none /dev/shm && "$work/many" threads 8 5' >out 2>&1 || { cat out; return 1; }
}
case_no_place_for_programs() {
  needs_root || return
  [[ $warpbeam != /tmp/* && $warpbeam != /var/tmp/* ]] || return 77
  unshare -m mount -t tmpfs none /mnt 2>/dev/null || return 77
  mkdir home
  cp "$here/many.cu" .
  export warpbeam
  # What is compiled is started from the first place that can be written and starts programs.
  unshare -m bash -ec 'mount --bind . /mnt; cd /mnt; mount -t tmpfs -o ro none /tmp; unset XDG_CACHE_HOME HOME TMPDIR; "$warpbeam" run many.cu -- streams 3' >out 2>&1 || { cat out; return 1; }
  unshare -m bash -ec 'mount --bind . /mnt; cd /mnt; for place in /tmp home; do mount -t tmpfs -o noexec none $place; done; export HOME=/mnt/home; unset XDG_CACHE_HOME TMPDIR
    "$warpbeam" run many.cu -- streams 3; "$warpbeam" check many.cu -- streams 3; "$warpbeam" nvcc many.cu -o many; ./many streams 3; [[ -z $(ls -A /tmp) ]]' >out 2>&1 || { cat out; return 1; }
  unshare -m bash -ec 'mount --bind . /mnt; cd /mnt; for place in /tmp /var/tmp; do mount -t tmpfs -o ro none $place; done; mount -t tmpfs -o noexec none /dev/shm
    unset XDG_CACHE_HOME HOME TMPDIR; "$warpbeam" run many.cu' >out 2>&1
  (($? == 1)) && grep -qxF 'warpbeam: cannot make a temporary directory in /tmp (Read-only file system), /var/tmp (Read-only file system), /dev/shm (is mounted noexec); TMPDIR names another folder for programs that are compiled' out || { cat out; return 1; }
}

passed=0 failed=0 skipped=0
for name in $(declare -F | sed -n 's/^declare -f case_//p'); do
  [[ $name == *"$filter"* ]] || continue
  mkdir -p "$work/$name"
  message=$(cd -- "$work/$name" && "case_$name" 2>&1)
  case $? in
    0) passed=$((passed + 1)); echo "ok   $name" ;;
    77) skipped=$((skipped + 1)); echo "skip $name: needs root, and mounts" ;;
    *) failed=$((failed + 1)); echo "FAIL $name"; printf '%s\n' "$message" ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
