# shellcheck shell=bash
# Programs are kept: what is compiled anew, and what a cache in any state may cost.

case_cache() {
  hello && echo '// nothing' >h.h && echo '#include "h.h"' >>hello.cu && old hello.cu h.h
  expect 1 run -v hello.cu </dev/null && hasnt err 'was cached' && expect 1 run -v hello.cu </dev/null && has err 'was cached' &&
    touch h.h && expect 1 run -v hello.cu </dev/null && has err 'was cached' &&
    echo '#error now' >h.h && expect 1 run -v hello.cu </dev/null && has err 'now' &&
    echo '// nothing' >h.h && old h.h && expect 1 run -v hello.cu </dev/null && has err 'was cached' &&
    expect 1 run -v -O3 hello.cu </dev/null && hasnt err 'was cached' && expect 1 run -v --device v100 hello.cu </dev/null && hasnt err 'was cached'
}

case_cached_warnings_come_again() {
  printf 'int main() { const char* s = 0; s + 1; return 0; }\n' >w.cu && old w.cu && expect 0 run w.cu && has err 'warning' && expect 0 run w.cu && has err 'warning'
}

# Scripts write a program and run it at once. What is saved while it is compiled is not kept; it is built once and told of once all the same.
case_sources_saved_just_now() {
  local n
  for n in 1 2 3 4; do
    echo "int main() { const char* s = 0; s + 1; return $n; }" >w.cu
    expect $n run -v w.cu && [[ $(grep -c '#\$ clang' err) == 3 ]] && expect $n run -v w.cu && has err 'was cached' || return 1
  done
  touch -d '1 hour' w.cu
  for n in 1 2; do expect 4 run -v -O1 w.cu && hasnt err 'was cached' && [[ $(grep -c 'warning: ' err) == 1 ]] || return 1; done
}

case_cache_is_bounded() {
  export XDG_CACHE_HOME=$PWD/cache
  local results=cache/warpbeam/programs/results one
  echo "int main() { return 0; }" >m.cu && old m.cu && expect 0 run m.cu || return 1
  one=$(du -sb $results | cut -f1)
  export WARPBEAM_CACHE_BYTES=$((2 * one))
  for n in 1 2 3 4 5; do echo "int main() { return $n; }" >m.cu && old m.cu && expect $n run m.cu || return 1; done
  (($(du -sb $results | cut -f1) < 4 * one)) && expect 5 run -v m.cu && has err 'was cached'
}

case_cache_that_cannot_be_written() { hello && XDG_CACHE_HOME=/proc/none expect 1 run hello.cu </dev/null; }

case_damaged_cache_is_made_anew() {
  hello && export XDG_CACHE_HOME=$PWD/cache
  expect 1 run hello.cu </dev/null || return 1
  for size in 0 1000 8000; do
    truncate -s $size cache/warpbeam/programs/results/*/hello
    for _ in 1 2; do expect 2 run -v hello.cu -- x </dev/null && has out '[x]' || return 1; done
    has err 'was cached' || return 1
  done
  for key in cache/warpbeam/programs/keys/*; do head -c 3000 /dev/urandom >"$key"; done
  expect 1 run hello.cu </dev/null || return 1
  # As large and as old as it was.
  local file before
  for file in cache/warpbeam/programs/results/*/hello; do
    before=$(stat -c %y "$file")
    dd if=/dev/zero of="$file" bs=1 seek=1000 count=3000 conv=notrunc 2>/dev/null && touch -d "$before" "$file"
  done
  for _ in 1 2; do expect 2 run -v hello.cu -- x </dev/null && has out '[x]' || return 1; done
  has err 'was cached' || return 1
  # Lists of files that end early must not vouch for a program of another source.
  for file in cache/warpbeam/programs/keys/*; do head -n 2 "$file" >short && mv short "$file"; done
  sed -i 's/\[%s\]/<%s>/' hello.cu && old hello.cu && expect 2 run hello.cu -- x </dev/null && has out '<x>'
}

# Programs are run from the cache: one that others can write to is let be.
case_cache_that_others_can_write_to() {
  hello && export XDG_CACHE_HOME=$PWD/cache
  expect 1 run hello.cu </dev/null && [[ $(stat -c %a cache/warpbeam/programs) == 700 ]] && expect 1 run -v hello.cu </dev/null && has err 'was cached' || return 1
  chmod o+w cache/warpbeam/programs/results && expect 1 run -v hello.cu </dev/null && hasnt err 'was cached' || return 1
  chmod 775 cache/warpbeam/programs/results && expect 1 run -v hello.cu </dev/null && has err 'was cached' && [[ $(stat -c %a cache/warpbeam/programs/results) == 755 ]]
}

case_headers_that_appear_on_the_way() {
  export XDG_CACHE_HOME=$PWD/cache
  mkdir first second && echo '#define N 3' >second/n.h && printf '#include <cmath>\n#include "n.h"\nint main() { return N; }\n' >a.cu && old a.cu second/n.h
  local k
  for k in 1 2 3; do expect 3 run -v -Ifirst -I second a.cu || return 1; done
  has err 'was cached' && echo '#define N 4' >first/n.h && old first/n.h && expect 4 run -Ifirst -I second a.cu &&
    echo '#define N 5' >n.h && old n.h && expect 5 run -Ifirst -I second a.cu && rm n.h && expect 4 run -Ifirst -I second a.cu || return 1
  # One that the prelude includes as well.
  printf '#include_next <ctype.h>\n#undef N\n#define N 6\n' >first/ctype.h
  printf '#include <ctype.h>\nint main() { return N; }\n' >b.cu && old first/ctype.h b.cu && expect 6 run -Ifirst -I second b.cu
}

case_homes_that_cannot_be_used() {
  hello && mkdir locked half && mkdir -p half/warpbeam/programs/keys && touch half/warpbeam/programs/results
  expect 1 env -u HOME -u XDG_CACHE_HOME "$warpbeam" run hello.cu </dev/null && expect 1 env -u XDG_CACHE_HOME HOME=/nonexistent/home "$warpbeam" run hello.cu </dev/null &&
    expect 1 env XDG_CACHE_HOME=/dev/null "$warpbeam" run hello.cu </dev/null && expect 1 env XDG_CACHE_HOME="$PWD/half" "$warpbeam" run hello.cu </dev/null &&
    expect 1 env XDG_CACHE_HOME=relative "$warpbeam" run hello.cu </dev/null || return 1
  chmod a+rx "$work" .
  [[ $EUID == 0 ]] && setpriv --reuid=65534 --clear-groups "$warpbeam" --version >/dev/null 2>&1 || return 0
  # Another user's cache, and one whose files may not be read.
  chmod 700 locked && export XDG_CACHE_HOME=$PWD/open && mkdir open && chmod 777 open && expect 1 env XDG_CACHE_HOME="$PWD/locked" setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null &&
    expect 1 setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null && chmod 0 open/warpbeam/programs/results/*/hello &&
    expect 1 setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null && chmod 0 open/warpbeam/programs/keys/* &&
    expect 1 setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null
}

case_runs_at_the_same_time() {
  hello && export XDG_CACHE_HOME=$PWD/cache
  for n in 1 2 3 4; do (echo $n | run hello.cu -- $n >out.$n 2>err.$n; echo $? >status.$n) & done
  wait
  for n in 1 2 3 4; do [[ $(cat out.$n status.$n) == "[$n]$n"$'\n2' ]] || { cat err.$n; return 1; }; done
}
