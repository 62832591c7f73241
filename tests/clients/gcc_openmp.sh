# OpenMP target regions by Debian's GCC: the same plugin, and libgomp's own device code linked in.
set -eu
command -v gcc-12 >/dev/null && [[ -e /usr/lib/gcc/x86_64-linux-gnu/12/accel/nvptx-none/mkoffload ]] || {
  echo "needs the packages gcc-12 and gcc-12-offload-nvptx"
  exit 77
}
# GCC's assembler asks an installed ptxas for its opinion; the newest one no longer knows GCC's architecture.
export PATH=/usr/bin:/bin
gcc-12 -O2 -fopenmp -foffload=nvptx-none -foffload=-lm "$WARPBEAM_CLIENTS/gcc/openmp.c" -o openmp -lm
LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES OMP_TARGET_OFFLOAD=MANDATORY ./openmp
