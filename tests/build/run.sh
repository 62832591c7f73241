#!/usr/bin/env bash
# What is compiled together (cmake/together.cmake), in a project of five small sources: that new and edited ones are compiled by themselves, and nothing else anew.
# Ends with "N passed, N failed".
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
home=$(cd -- "$here/../.." && pwd -P)
root=$(mktemp -d)
trap 'rm -rf -- "$root"' EXIT
passed=0 failed=0
unset CMAKE_CXX_COMPILER_LAUNCHER  # CMake runs again under ninja, which would hand it on
check() { # what, what came, what was expected
  if [[ $2 == "$3" ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); printf 'FAIL %s: %s, not %s\n' "$1" "${2:-nothing}" "${3:-nothing}"; fi
}
mkdir -p "$root/src/fatbin"
for name in a b c d; do echo "int $name() { return 1; }" >"$root/src/fatbin/$name.cc"; done
echo 'int linked() { return 1; }' >"$root/src/fatbin/linked.cc"  # which together.cmake sets apart
cat >"$root/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(Small LANGUAGES CXX)
include($home/cmake/together.cmake)
add_subdirectory(src/fatbin)
wb_compile_together()
END
printf 'file(GLOB sources CONFIGURE_DEPENDS *.cc)\nadd_library(wb_fatbin STATIC ${sources})\n' >"$root/src/fatbin/CMakeLists.txt"
build=$root/build
# Builds, and says what was compiled: sources, and groups by their numbers.
built() { ninja -C "$build" -v 2>&1 | grep -oE ' -c [^ ]*' | sed 's|.*/||; s|unity_wb_fatbin_||; s|_cxx.cxx||' | sort | tr '\n' ' '; }
configure() { # settings of the environment
  env -u CMAKE_CXX_COMPILER_LAUNCHER "$@" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=Release >"$root/log" 2>&1 || cat "$root/log"
}

configure WARPBEAM_TOGETHER=ON
check 'a first build' "$(built)" '0 linked.cc '
touch "$root/stamp"
sleep 0.05
eval "$(sed -n '/^part_edited() /,/^}/p' "$home/warpbeam")"
echo 'int b() { return 2; }' >"$root/src/fatbin/b.cc"
echo 'int e() { return 2; }' >"$root/src/fatbin/e.cc"
part_edited "$root/stamp"
check 'one is edited, one is new' "$(built)" '0 b.cc e.cc '
echo 'int b() { return 3; }' >"$root/src/fatbin/b.cc"
part_edited "$root/stamp"
check 'edited again' "$(built)" 'b.cc '
printf 'static int same() { return 1; }\nint c() { return same(); }\n' >"$root/src/fatbin/c.cc"
printf 'static int same() { return 2; }\nint d() { return same(); }\n' >"$root/src/fatbin/d.cc"
eval "$(sed -n '/^each_by_itself() /,/^}/p' "$home/warpbeam")"
say() { :; }
ninja -C "$build" >/dev/null
check 'the same name in two sources' "$?" 1
each_by_itself all 2>/dev/null
check 'each by itself' "$?" 0
rm -rf -- "$build"
configure WARPBEAM_TOGETHER=ON
check 'a first build with the same name in two' "$(built)" '0 1 linked.cc '
rm -rf -- "$build"
configure WARPBEAM_TOGETHER=OFF
check 'without' "$(built)" 'a.cc b.cc c.cc d.cc e.cc linked.cc '
rm -rf -- "$build"
printf '#!/bin/sh\nexec "$@"\n' >"$root/ccache"  # goes by its name
chmod +x "$root/ccache"
configure CMAKE_CXX_COMPILER_LAUNCHER="$root/ccache"
check 'with a compiler cache' "$(grep -o 'WARPBEAM_TOGETHER:BOOL=.*' "$build/CMakeCache.txt")" 'WARPBEAM_TOGETHER:BOOL=OFF'
# A folder in which CMake cannot build: one sentence.
for name in 'a "b"' 'a;b' 'a#b' 'a\b'; do
  mkdir "$root/$name"
  cp "$home/warpbeam" "$root/$name/"
  said=$("$root/$name/warpbeam" build --no-install 2>&1)
  check "sources in $name" "$?, $(wc -l <<<"$said") line: ${said%in its name*}" '1, 1 line: warpbeam: CMake builds in no folder with a " ; # or \ '
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed == 0 ]]
