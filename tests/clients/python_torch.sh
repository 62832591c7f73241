# PyTorch and its Triton from PyPI.
. "$WARPBEAM_CLIENTS/python/environment.sh"
only_with_all "6 GB" || exit
python_client torch torch_cases.py torch==2.15.0 numpy==2.4.6 setuptools
