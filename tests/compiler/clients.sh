# shellcheck shell=bash
# Programs of others that find our libraries.

case_executables_and_commands_find_our_libraries() {
  hello && expect 0 nvcc hello.cu -o hello && expect 3 run hello a b </dev/null && has out '[a][b]' &&
    expect 2 run ./hello -- -v </dev/null && has out '[-v]' && expect 2 run -- ./hello a </dev/null && has out '[a]' &&
    expect 0 run -- sh -c 'echo "$LD_LIBRARY_PATH $WARPBEAM_DEVICE"' && has out "$tree/lib" &&
    expect 0 run --device k40 -- sh -c 'echo "$WARPBEAM_DEVICE"' && has out k40 &&
    expect 127 run -- no-such-command && has err "there is no command 'no-such-command'"
}

# A program with a library of a toolkit's under its RPATH, which it loads by its absolute path too; a library of ours of that name.
package_with_libraries() {
  [[ -e ${driver%/bin/*}/lib/libwarpbeam_audit.so && -e /lib64/ld-linux-x86-64.so.2 ]] || return 77
  own_tree
  cp "${driver%/bin/*}/lib/libwarpbeam_audit.so" "$tree/lib/"
  mkdir -p package
  echo 'const char* whose(void) { return "ours"; }' >ours.c
  echo 'const char* whose(void) { return "theirs"; }' >theirs.c
  cat >program.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
const char* whose(void);
int main(int count, char** arguments) {
  printf("linked: %s\n", whose());
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
    printf("%s\n", library ? ((const char* (*)(void))dlsym(library, "whose"))() : dlerror());
  }
}
C
  clang-19 -shared ours.c -o "$tree/lib/libcudart.so.13" -Wl,-soname,libcudart.so.13 &&
    clang-19 -shared theirs.c -o package/libcudart.so.13 -Wl,-soname,libcudart.so.13 &&
    cp package/libcudart.so.13 package/libcudart-0123abcd.so.13 && clang-19 -shared theirs.c -o package/libcudnn.so.9 -Wl,-soname,libcudnn.so.9 &&
    clang-19 program.c package/libcudart.so.13 -ldl -o program -Wl,--disable-new-dtags,-rpath,"$PWD/package" && [[ $(./program) == 'linked: theirs' ]]
}

case_libraries_of_packages_come_behind_ours() {
  package_with_libraries || return
  expect 0 run -- ./program "$PWD/package/libcudart.so.13" "$PWD/package/libcudart-0123abcd.so.13" "$PWD/package/libcudnn.so.9" &&
    [[ $(cat out) == $'linked: ours\nours\nours\ntheirs' ]] && [[ ! -s err ]] &&
    expect 0 run -- sh -c './program' && has out 'linked: ours' &&
    expect 0 run -v -- ./program "$PWD/package/libcudart.so.13" "$PWD/package/libcudnn.so.9" && has err "note: $tree/lib/libcudart.so.13 for libcudart.so.13" "note: $tree/lib/libcudart.so.13 instead of $PWD/package/libcudart.so.13" \
      "note: $PWD/package/libcudnn.so.9 is not Warpbeam's, which has no libcudnn.so.9"
}

case_warpbeam_off_steps_aside() {
  package_with_libraries || return
  expect 0 env WARPBEAM=off "$warpbeam" run -- ./program libcudart.so.13 && [[ $(cat out) == $'linked: theirs\ntheirs' ]] &&
    expect 0 run -- sh -c 'WARPBEAM=off ./program libcudart.so.13' && [[ $(cat out) == $'linked: theirs\ntheirs' ]]
}

case_commands_find_our_tools() {
  own_tree
  printf '#!/bin/sh\nexec "%s" ptxas "$@"\n' "$warpbeam" >"$tree/bin/ptxas" && chmod +x "$tree/bin/ptxas" &&
    expect 0 run -- sh -c 'command -v nvcc; command -v ptxas; echo $TRITON_PTXAS_PATH $TRITON_LIBCUDA_PATH' &&
    [[ $(cat out) == "$tree/bin/nvcc"$'\n'"$tree/bin/ptxas"$'\n'"$tree/bin/ptxas $tree/lib" ]] &&
    expect 0 env TRITON_PTXAS_PATH=/mine "$warpbeam" run -- sh -c 'echo $TRITON_PTXAS_PATH' && [[ $(cat out) == /mine ]] &&
    expect 0 env WARPBEAM=off TRITON_PTXAS_PATH= "$warpbeam" run -- sh -c 'echo $TRITON_LIBCUDA_PATH' && [[ $(cat out) == '' ]]
}

case_packages_of_python_are_told() {
  command -v python3 >/dev/null || return 77
  own_tree
  mkdir -p "$tree/lib/warpbeam" && ln -s -- "$root/src/clients" "$tree/lib/warpbeam/clients"
  mkdir -p site/warp
  echo 'cuda_output = None' >site/warp/config.py
  echo 'from . import config' >site/warp/__init__.py
  echo 'print("the next one")' >site/sitecustomize.py
  local program='import warp; print(warp.config.cuda_output)'
  expect 0 env PYTHONPATH="$PWD/site" "$warpbeam" run -- python3 -c "$program" && [[ $(cat out) == $'the next one\nptx' ]] &&
    expect 0 env PYTHONPATH="$PWD/site" "$warpbeam" run -- sh -c "WARPBEAM=off python3 -c '$program'" && [[ $(cat out) == $'the next one\nNone' ]] &&
    expect 0 env PYTHONPATH="$PWD/site" python3 -c "$program" && has out None
  local status=$?
  # JAX looks for a kernel driver's files; XLA reads its flags when jaxlib is imported, and those of the user come first.
  mkdir -p site/jax/_src
  echo 'def has_visible_nvidia_gpu(): return False' >site/jax/_src/hardware_utils.py
  touch site/jax/__init__.py site/jax/_src/__init__.py
  echo 'import os; flags = os.environ.get("XLA_FLAGS")' >site/jaxlib.py
  program='import jaxlib, jax._src.hardware_utils as h; print(h.has_visible_nvidia_gpu(), jaxlib.flags)'
  expect 0 env PYTHONPATH="$PWD/site" XLA_FLAGS=--xla_mine "$warpbeam" run -- python3 -c "$program" && has out 'True --xla_mine --xla_gpu_enable_libnvptxcompiler=false' &&
    expect 0 env PYTHONPATH="$PWD/site" XLA_FLAGS=--xla_mine "$warpbeam" run -- sh -c "WARPBEAM=off python3 -c '$program'" && has out 'False --xla_mine' || status=1
  # Triton before 3.5 chooses no PTX for toolkit 13, and none before 3.2 for 12.8.
  mkdir -p site/triton/backends && touch site/triton/__init__.py
  printf '%s\n' 'def ptx_get_version(cuda):' '  if cuda in ("12.5", NEWEST): return cuda' '  raise RuntimeError("not " + cuda)' \
    'class Backend:' '  def __init__(self): self.ptx = ptx_get_version("13.0")' 'class Pair: compiler = Backend' 'backends = {"nvidia": Pair}' >old.py
  program='from triton.backends import backends; print(backends["nvidia"].compiler().ptx)'
  for newest in 12.4 12.8 13.0; do
    sed "s/NEWEST/'$newest'/" old.py >site/triton/backends/__init__.py
    expect 0 env PYTHONPATH="$PWD/site" PYTHONDONTWRITEBYTECODE=1 "$warpbeam" run -- python3 -c "$program" && has out "${newest/12.4/12.5}" || status=1
  done
  return $status
}

case_the_page_of_clients_is_as_recorded() {
  command -v python3 >/dev/null || return 77
  expect 0 python3 "$root/tests/clients/write_page" --check
}
