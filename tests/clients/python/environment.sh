# For the clients that come from PyPI: an environment with fixed versions, made once and kept, and a program run in it as users do.
# Sourced. `python_client NAME PROGRAM PACKAGE==VERSION…`; its cases are told as `tests/clients/python/cases.py` does.
python_client() {
  local name=$1 program=$2 python=${WARPBEAM_PYTHON:-python3} place log
  shift 2
  command -v "$python" >/dev/null && "$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "needs python3 with venv"; return 77; }
  place=${WARPBEAM_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/warpbeam/clients}/$name-$(printf '%s\n' "$("$python" --version)" "$@" | cksum | cut -d' ' -f1)
  if [[ ! -e $place/.made ]]; then
    rm -rf -- "$place"
    mkdir -p -- "${place%/*}"
    log=$place.log
    "$python" -m venv "$place" >"$log" 2>&1 && "$place/bin/python" -m pip install --disable-pip-version-check -q "$@" >>"$log" 2>&1 || {
      rm -rf -- "$place"
      tail -n 3 "$log"
      echo "$* cannot be installed here: $(tail -n 1 "$log")"
      return 77
    }
    touch "$place/.made"
  fi
  # Nothing else is set; caches are of this run only.
  HOME=$PWD XDG_CACHE_HOME=$PWD/.cache CUPY_CACHE_DIR=$PWD/.cupy "$WARPBEAM_BUILD/bin/warpbeam" run -- "$place/bin/python" "$WARPBEAM_CLIENTS/python/$program"
}

# Large packages are for those who ask for all.
only_with_all() {
  [[ -n ${WARPBEAM_ALL_CLIENTS:-} ]] || { echo "takes $1; ./warpbeam test --clients all has it"; return 77; }
}
