# cuda-python from PyPI: cuda.bindings and cuda.core.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_client cuda_python cuda_python_cases.py cuda-python==13.4.4 cuda-core==1.2.2 numpy==2.4.6
