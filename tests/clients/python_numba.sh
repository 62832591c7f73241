# Numba from PyPI, with its compiler.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_client numba numba_cases.py numba-cuda==0.30.4 numba==0.68.1 cuda-python==13.4.4 cuda-core==1.2.2 numpy==2.4.6
