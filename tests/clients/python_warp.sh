# NVIDIA Warp from PyPI.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_client warp warp_cases.py warp-lang==1.19.0 numpy==2.4.6
