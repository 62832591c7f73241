# For the clients that come from PyPI: an environment with fixed versions, made once and kept, and a program run in it as users do.
# Sourced. `python_client NAME PROGRAM PACKAGE==VERSION…`; its cases are told as `tests/clients/python/cases.py` does.
# `python_suite NAME SOURCES PACKAGE==VERSION…` runs the part of a package's own tests that tests/clients/suites/NAME names.
clients_cache=${WARPBEAM_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/warpbeam/clients}

# Sets `place` to an environment with these packages.
python_environment() {
  local name=$1 python=${WARPBEAM_PYTHON:-python3} log lock
  shift
  command -v "$python" >/dev/null && "$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "needs python3 with venv"; return 77; }
  place=$clients_cache/$name-$(printf '%s\n' "$("$python" --version)" "$@" | cksum | cut -d' ' -f1)
  [[ ! -e $place/.made ]] || return 0
  mkdir -p -- "${place%/*}"
  # Two at the same time would remove each other's half.
  exec {lock}>"$place.lock"
  flock "$lock"
  if [[ ! -e $place/.made ]]; then
    rm -rf -- "$place"
    log=$place.log
    "$python" -m venv "$place" >"$log" 2>&1 && "$place/bin/python" -m pip install --disable-pip-version-check -q "$@" >>"$log" 2>&1 || {
      rm -rf -- "$place"
      tail -n 3 "$log"
      echo "$* cannot be installed here: $(tail -n 1 "$log")"
      return 77
    }
    touch "$place/.made"
  fi
  exec {lock}>&-
}

python_client() {
  local name=$1 program=$2 place
  shift 2
  python_environment "$name" "$@" || return
  # Nothing else is set; caches are of this run only.
  HOME=$PWD XDG_CACHE_HOME=$PWD/.cache CUPY_CACHE_DIR=$PWD/.cupy "$WARPBEAM_BUILD/bin/warpbeam" run -- "$place/bin/python" "$WARPBEAM_CLIENTS/python/$program"
}

# Large packages are for those who ask for all.
only_with_all() {
  [[ -n ${WARPBEAM_ALL_CLIENTS:-} ]] || { echo "takes $1; ./warpbeam test --clients all has it"; return 77; }
}

# What the tests themselves need lies beside the package's environment, so that this one is shared with the client's cases.
suite_tools=(pytest==9.2.0 hypothesis psutil==7.2.2 ml_dtypes==0.6.0 expecttest pytest-mock pytest-benchmark pytest-timeout pytest-rerunfailures requests tqdm)

python_suite() {
  local name=$1 sources=$2 place tools root
  shift 2
  python_environment "${name%%_*}" "$@" || return
  tools=$place-tools
  if [[ ! -e $tools/.made ]]; then
    "$place/bin/python" -m pip install --disable-pip-version-check -q --no-deps --target "$tools" "${suite_tools[@]}" iniconfig pluggy packaging Pygments sortedcontainers attrs py-cpuinfo2 scipy==1.17.1 >"$place.log" 2>&1 && touch "$tools/.made" || {
      echo "what its tests need cannot be installed here: $(tail -n 1 "$place.log")"
      return 77
    }
  fi
  case $sources in
    /*) root=$sources ;;
    package:*) root=$("$place/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') ;;
    *) suite_sources "$name" "$sources" || return ;;
  esac
  HOME=$PWD XDG_CACHE_HOME=$PWD/.cache CUPY_CACHE_DIR=$PWD/.cupy PYTHONPATH=$tools "$WARPBEAM_BUILD/bin/warpbeam" run -- "$place/bin/python" "$WARPBEAM_CLIENTS/suites/suite.py" "$name" "$root" ${WARPBEAM_SUITE_FILTERS:-}
}

# The public repository of a package at a tag, without the folders of the package itself, so that the tests meet the one that was installed.
# WARPBEAM_CLIENTS_SUITES=FOLDER has them already, by the suites' names.
suite_sources() {
  local name=$1 address tag drop part
  read -r address tag drop <<<"$2"
  root=${WARPBEAM_CLIENTS_SUITES:-$clients_cache/suites}/$name
  [[ ! -e $root ]] || return 0
  [[ -z ${WARPBEAM_CLIENTS_SUITES:-} ]] || { echo "no $root"; return 77; }
  mkdir -p -- "${root%/*}"
  git clone -q --depth 1 --branch "$tag" "$address" "$root" 2>"$root.log" || { echo "its tests cannot be fetched: $(tail -n 1 "$root.log")"; return 77; }
  for part in $drop; do rm -rf -- "${root:?}/$part"; done
}
