# tinygrad from PyPI.
. "$WARPBEAM_CLIENTS/python/environment.sh"
DEV=CUDA python_client tinygrad tinygrad_cases.py tinygrad==0.14.0 numpy==2.4.6
