#!/usr/bin/env bash
# The driver from the outside: each file of cases/ says in its first lines what is done with it and what is expected, and what takes a shell is a
# function case_* in a file of its subject. Usage: run.sh [filter]; prints a line per case and ends with "N passed, N failed, N skipped".
# WARPBEAM_DRIVER names the program to test (default: the one of WARPBEAM_BUILD, or of the release build).
set -u
# shellcheck source=../cases.sh
. "${BASH_SOURCE[0]%/*}/../cases.sh"
driver=${WARPBEAM_DRIVER:-$build/bin/warpbeam}

# An installed tree: this driver, our headers, and a runtime that only records. It has no plugin of the compiler: tests/lowering tries that.
tree=$work/tree
mkdir -p "$tree/bin" "$tree/lib" "$tree/ahead"  # a build has something ahead
cp -- "$driver" "$tree/bin/warpbeam" || exit 1
ln -s -- "$root/include" "$tree/include"
clang++-19 -shared -fPIC -O1 "$here/recording_runtime.cc" -o "$tree/lib/libwarpbeam.so" -Wl,-soname,"$tree/lib/libwarpbeam.so" || exit 1
for name in libcudart.so libcudart_static.a libcudadevrt.a; do echo "INPUT($tree/lib/libwarpbeam.so)" >"$tree/lib/$name"; done
ln -s lib "$tree/lib64"
warpbeam=$tree/bin/warpbeam
printf '#!/bin/sh\nexec "%s" nvcc "$@"\n' "$warpbeam" >"$tree/bin/nvcc"
chmod +x "$tree/bin/nvcc"
export XDG_CACHE_HOME=$work/cache
unset WARPBEAM_DEVICE WARPBEAM_ENGINE NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
# Built with a sanitizer, a program would report the signal itself, were its options not these.
quiet=handle_segv=0:handle_abort=0

warpbeam() { "$warpbeam" "$@"; }
nvcc() { warpbeam nvcc "$@"; }
run() { warpbeam run "$@"; }
# For a case that changes the tree.
own_tree() {
  cp -al -- "$tree" own.tree && mv own.tree tree
  tree=$PWD/tree
  warpbeam=$tree/bin/warpbeam
}
# A program that prints its words and what it reads, and returns how many words it has.
hello() {
  cat >hello.cu <<'CU'
#include <cstdio>
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main(int n, char** v) {
  k<<<1, 32>>>(nullptr);
  for (int i = 1; i < n; ++i) std::printf("[%s]", v[i]);
  int c;
  while ((c = std::getchar()) != EOF) std::putchar(c);
  return n;
}
CU
  old hello.cu
}

for subject in preludes caches processes sources cccl linking build_systems clients; do
  # shellcheck source=/dev/null
  . "$here/$subject.sh"
done
run_cases "${1:-}" "$here"/cases/*
