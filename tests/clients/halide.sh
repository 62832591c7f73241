# Halide from Debian: it makes PTX of a schedule, and loads libcuda.so by that name.
set -eu
/usr/bin/python3 -c 'import halide, numpy' 2>/dev/null || { echo "needs the packages python3-halide and python3-numpy"; exit 77; }
LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES /usr/bin/python3 "$WARPBEAM_CLIENTS/halide_client.py"
