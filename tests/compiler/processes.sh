# shellcheck shell=bash
# Signals, pipes and places that cannot be written to.

case_interrupt_while_running() {
  printf '#include <unistd.h>\nint main() { (void)!write(1, "up", 2); sleep(20); return 0; }\n' >s.cu && old s.cu
  # Job control gives the run its own process group, as a terminal does, and default signal handling.
  (set -m; "$warpbeam" run s.cu >out 2>err & job=$!; for _ in $(seq 100); do [[ -s out ]] && break; sleep 0.1; done; kill -INT -- -$job; wait $job; echo $? >status) 2>/dev/null
  [[ $(cat status) == 130 ]] || { echo "    status $(cat status)"; return 1; }
}

case_interrupt_while_compiling() {
  printf 'template <int N> struct F { static constexpr long v = F<N - 1>::v + F<(N > 2 ? N - 2 : 1)>::v + N; };\ntemplate <> struct F<1> { static constexpr long v = 1; };\ntemplate <> struct F<0> { static constexpr long v = 1; };\ntemplate <int N> long g() { if constexpr (N > 0) return F<N>::v + g<N - 1>() ; else return 0; }\nint main() { return g<900>(); }\n' >c.cu
  mkdir tmp
  (export TMPDIR=$PWD/tmp; set -m; "$warpbeam" nvcc -ftemplate-depth 100000 c.cu >out 2>err & job=$!; for _ in $(seq 300); do compgen -G 'tmp/warpbeam.*' >/dev/null && break; sleep 0.01; done; kill -INT -- -$job; wait $job; echo $? >status) 2>/dev/null
  [[ $(cat status) == 130 && -z $(ls tmp) ]] || { echo "    status $(cat status), left: $(ls tmp)"; return 1; }
}

# What a process sends comes to us alone; what was ignored when we began stays so.
case_signals_of_processes() {
  printf '#include <unistd.h>\nint main() { (void)!write(1, "up", 2); sleep(20); return 0; }\n' >s.cu && old s.cu
  signalled() { # signal, words before
    local sent=$1
    shift
    rm -f out status
    (set -m; "$@" "$warpbeam" run s.cu >out 2>err & job=$!; for _ in $(seq 100); do [[ -s out ]] && break; sleep 0.1; done; kill -"$sent" $job; wait $job; echo $? >status) 2>/dev/null
  }
  signalled INT && [[ $(cat status) == 130 ]] || { echo "    INT: status $(cat status)"; return 1; }
  signalled QUIT && [[ $(cat status) == 131 ]] || { echo "    QUIT: status $(cat status)"; return 1; }
  # The hangup is not heeded, and the signal behind it is.
  rm -f out status
  (set -m; nohup "$warpbeam" run s.cu >out 2>err & job=$!; for _ in $(seq 100); do [[ -s out ]] && break; sleep 0.1; done; kill -HUP -- -$job; sleep 0.3; kill -TERM $job; wait $job; echo $? >status) 2>/dev/null
  [[ $(cat status) == 143 ]] || { echo "    HUP: status $(cat status)"; return 1; }
}

case_children_are_waited_for_where_they_are_ignored() {
  hello && expect 1 timeout 60 bash -c 'trap "" CHLD; exec "$@"' - "$warpbeam" run hello.cu </dev/null || return 1
  expect 1 timeout 60 /usr/bin/env --ignore-signal=CHLD "$warpbeam" nvcc nothere.cu && has err "no such file: 'nothere.cu'" || return 1
  expect 1 timeout 60 /usr/bin/env --ignore-signal=CHLD "$warpbeam" run hello.cu -DOTHER </dev/null
}

case_a_device_as_output_stays() {
  hello
  mknod nowhere c 1 3 2>/dev/null || { mkfifo nowhere && cat nowhere >object & }
  local k
  for ((k = 0; k < 50; ++k)); do [[ -e nowhere ]] && break; sleep 0.1; done
  expect 0 nvcc -c -o nowhere hello.cu && [[ ! -f nowhere ]] && wait && [[ ! -e object || -s object ]]
}

case_places_that_cannot_be_written() {
  hello
  TMPDIR=/nonexistent expect 0 nvcc hello.cu -o hello || return 1
  for words in 'devices' 'nvcc --help' 'profile --query-metrics'; do
    status=0
    # shellcheck disable=SC2086
    "$warpbeam" $words >/dev/full 2>err || status=$?
    [[ $status == 1 ]] && has err 'cannot write to' || return 1
  done
  printf '#pragma clang __debug crash\n' >crash.cu && mkdir tmp && TMPDIR=$PWD/tmp expect 1 nvcc -c crash.cu && has err 'the compiler crashed' 'crash.cu:1:2' &&
    hasnt err 'Stack dump' && [[ -z $(ls tmp) ]]
}
