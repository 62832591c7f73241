# OpenACC by Debian's GCC: libgomp's plugin loads libcuda.so.1 and links the PTX that GCC made.
set -eu
command -v gcc-12 >/dev/null && [[ -e /usr/lib/gcc/x86_64-linux-gnu/12/accel/nvptx-none/mkoffload ]] || {
  echo "needs the packages gcc-12 and gcc-12-offload-nvptx"
  exit 77
}
# GCC's assembler asks an installed ptxas for its opinion; the newest one no longer knows GCC's architecture.
export PATH=/usr/bin:/bin
gcc-12 -O2 -fopenacc -foffload=nvptx-none "$WARPBEAM_CLIENTS/gcc/openacc.c" -o openacc
LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES ACC_DEVICE_TYPE=nvidia ./openacc
