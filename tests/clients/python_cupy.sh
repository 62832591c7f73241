# CuPy from PyPI.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_client cupy cupy_cases.py cupy-cuda12x==14.2.0 numpy==2.4.6 scipy==1.17.1
