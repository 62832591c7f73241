# A part of Triton's tests of its language.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite triton "https://github.com/triton-lang/triton v3.9.0 python/triton" torch==2.15.0 numpy==2.4.6 setuptools
