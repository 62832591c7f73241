# A part of CuPy's own tests.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite cupy "https://github.com/cupy/cupy v14.2.0 cupy cupyx cupy_backends" cupy-cuda12x==14.2.0 numpy==2.4.6 scipy==1.17.1
