# Numba from Debian: its bindings of the driver, its arrays, streams and events, and PTX that it loads and launches.
# Its compiler for CUDA is another's matter: python_numba.sh, with Numba from PyPI.
set -eu
[[ -e /usr/lib/python3/dist-packages/numba/__init__.py ]] || { echo "needs the package python3-numba"; exit 77; }
LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES /usr/bin/python3 "$WARPBEAM_CLIENTS/numba_driver.py"
