# Taichi from PyPI.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_client taichi taichi_cases.py taichi==1.7.4 numpy==2.4.6
