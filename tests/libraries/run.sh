#!/usr/bin/env bash
# Compares the constants and the functions of the libraries' headers with those of a CUDA toolkit, where one is installed:
# programs built with either are the same. Ends with `N passed, N failed, N skipped`.
set -u
cd -- "$(dirname -- "$0")/../.." || exit 1
theirs=${CUDA_HOME:-/usr/local/cuda}/include
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
passed=0 failed=0 skipped=0

# What a header says: its constants (and macros that are numbers), or its functions. Inline overloads are left out.
constants() { clang++-19 -E -dD -x c++ -I"$1" "$1/$2" 2>/dev/null | grep -oE "\b$3_[A-Z0-9x_]+\b" | sort -u; }
functions() {
  clang++-19 -E -P -x c++ -I"$1" "$1/$2" 2>/dev/null | grep -oE "\b$3[A-Z][A-Za-z0-9_]* *\([^*]" | sed 's/ *(.*//' |
    grep -vE 'GemmEx$|BatchedEx$|MigrateComputeType|EmulationStrategy|Init$' | sort -u
}
# Prints the value of each constant, or the type of each function, as the header of folder $1 has them.
print_constants() {
  { printf '#include <%s>\n#include <cstdio>\nint main() {\n' "$2"; while read -r name; do printf 'std::printf("%%s %%lld\\n", "%s", (long long)(%s));\n' "$name" "$name"; done <"$3"; echo '}'; } >"$work/a.cc"
  clang++-19 -w -I"$1" "$work/a.cc" -o "$work/a" && "$work/a"
}
print_functions() {
  { printf '#include <%s>\n#include <cstdio>\n#include <typeinfo>\nint main() {\n' "$2"; while read -r name; do printf 'std::printf("%%s %%s\\n", "%s", typeid(decltype(%s)).name());\n' "$name" "$name"; done <"$3"; echo '}'; } >"$work/a.cc"
  clang++-19 -w -I"$1" "$work/a.cc" -o "$work/a" && "$work/a"
}

number=0
for row in "library_types.h CUDA -" "cublas_v2.h CUBLAS cublas" "cublas.h CUBLAS cublas" "cublasXt.h CUBLASXT cublasXt" "cublasLt.h CUBLASLT cublasLt" "cufftXt.h CUFFT cufft" "cusparse.h CUSPARSE cusparse" "cusolverDn.h CUSOLVER cusolver" \
  "cusolverSp_LOWLEVEL_PREVIEW.h CUSOLVER cusolver" "cusolverMg.h CUDALIBMG cusolverMg" "nvJitLink.h NVJITLINK nvJitLink" "nvFatbin.h NVFATBIN nvFatbin"; do
  if [[ -n ${WARPBEAM_FAST:-} ]] && ((number++ % 3)); then continue; fi  # the fast tests take every third
  read -r header prefix stem <<<"$row"
  if [[ ! -e $theirs/$header ]]; then
    printf 'skip %s: there is no %s/%s\n' "$header" "$theirs" "$header"
    ((++skipped))
    continue
  fi
  for what in constants functions; do
    [[ $what == functions && $stem == - ]] && continue  # it has none
    of=$([[ $what == constants ]] && echo "$prefix" || echo "$stem")
    comm -12 <($what include "$header" "$of") <($what "$theirs" "$header" "$of") |
      grep -vE '_(VER|VERSION|H|API|V2)(_|$)' >"$work/common"
    if print_$what include "$header" "$work/common" >"$work/ours" && print_$what "$theirs" "$header" "$work/common" >"$work/theirs" &&
      [[ -s $work/ours ]] && diff "$work/ours" "$work/theirs"; then
      printf 'ok   %s: %d %s\n' "$header" "$(wc -l <"$work/ours")" "$what"
      ((++passed))
    else
      printf 'FAIL %s: %s\n' "$header" "$what"
      ((++failed))
    fi
  done
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
