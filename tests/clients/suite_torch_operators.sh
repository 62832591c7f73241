# PyTorch's operators by its own table of them.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite torch_operators "$WARPBEAM_CLIENTS/suites/pytorch" torch==2.15.0 numpy==2.4.6 setuptools
