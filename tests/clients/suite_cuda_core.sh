# A part of the tests of cuda.core.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite cuda_core "https://github.com/NVIDIA/cuda-python cuda-core-v1.2.2" cuda-core==1.2.2 cuda-bindings==13.4.4 numpy==2.4.6
