# Python's ctypes: the driver found by its name, PTX loaded and launched, a failure reported.
set -eu
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES python3 "$WARPBEAM_CLIENTS/ctypes_driver.py"
