# A part of Taichi's tests, with the CUDA backend.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite taichi "https://github.com/taichi-dev/taichi v1.7.4 python" taichi==1.7.4 numpy==2.4.6
