# Programs built by NVIDIA's nvcc with the shared runtime: PTX plain and compressed, relocatable code, and a program that
# brings no PTX.
set -eu
nvcc=/usr/local/cuda/bin/nvcc
[[ -x $nvcc ]] || { echo "needs NVIDIA's nvcc in /usr/local/cuda"; exit 77; }
export LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES
for options in "-Xfatbin -compress=false" "-Xfatbin -compress-all" "-Xfatbin --compress-mode=size" "-rdc=true"; do
  # shellcheck disable=SC2086
  "$nvcc" -cudart shared -arch=compute_75 $options "$WARPBEAM_CLIENTS/nvcc_shared.cu" -o program
  ./program
done
"$nvcc" -cudart shared -gencode arch=compute_75,code=sm_75 "$WARPBEAM_CLIENTS/nvcc_shared.cu" -o program
status=0
./program >out 2>err || status=$?
cat out err
[[ $status == 3 ]] && grep -q '^209: ' out && grep -q 'machine code' err
