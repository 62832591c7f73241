# The tests in numba-cuda's wheel.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite numba package: numba-cuda==0.30.4 numba==0.68.1 cuda-python==13.4.4 numpy==2.4.6 cffi==2.1.1 filecheck==1.0.6
