# shellcheck shell=bash
# Names of sources and words of command lines.

case_run_passes_everything_through() {
  hello
  echo input | expect 3 run hello.cu -- 'a b' --help && [[ $(cat out) == '[a b][--help]input' ]] &&
    echo input | expect 3 run hello.cu -- 'a b' --help && [[ $(cat out) == '[a b][--help]input' ]]
}

case_run_many_sources_and_relative_includes() {
  mkdir -p 'sub dir' inc && echo '#define N 7' >inc/n.h && echo '#include "../inc/n.h"
int f() { return N; }' >'sub dir/f.cpp' && echo 'extern "C" int g(void); int f(); int main() { return f() + g(); }' >m.cu && echo 'int g(void) { return 1; }' >g.c
  old m.cu g.c inc/n.h 'sub dir/f.cpp'
  expect 8 run m.cu 'sub dir/f.cpp' g.c && echo '#define N 17' >inc/n.h && expect 18 run m.cu 'sub dir/f.cpp' g.c
}

case_paths_with_blanks() {
  mkdir 'a b' && cd 'a b' && hello && mv hello.cu 'he llo.cu' && expect 0 nvcc 'he llo.cu' -o 'x y' && expect 1 './x y' </dev/null &&
    expect 0 nvcc -c 'he llo.cu' && [[ -f 'he llo.o' ]] && expect 1 run -v 'he llo.cu' </dev/null && expect 1 run -v 'he llo.cu' </dev/null && has err 'was cached'
}

case_names_of_sources() {
  hello
  mkdir 'a;b' && cp hello.cu 'a;b/messages.cu' && cp hello.cu began.cu && cp hello.cu ...cu && sed 's/<<</<< </' hello.cu >'a;b/é;(x).cu' && old 'a;b'/* *.cu || return 1
  for name in 'a;b/messages.cu' 'a;b/é;(x).cu' began.cu ...cu; do
    for _ in 1 2; do expect 2 run "./$name" -- x </dev/null && has out '[x]' && [[ ! -s err ]] || return 1; done
  done
  cp hello.cu $'a\nb.cu' && expect 1 run $'a\nb.cu' && has err 'line break'
}

case_dryrun() {
  hello
  expect 0 nvcc --dryrun hello.cu -o h && [[ ! -e h ]] && has err '#$ TOP=' '#$ INCLUDES=' 'clang++-19 -x cuda' '--cuda-host-only' '--cuda-device-only' '-lwarpbeam' &&
    sed -e "s|$work|WORK|g; s|^#\$ PATH=.*|#$ PATH=|; s| -fsanitize=[a-z]*||" err >commands && diff -u "$here/dryrun.golden" commands
}
