# A part of tinygrad's tests of backends.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite tinygrad "https://github.com/tinygrad/tinygrad v0.14.0 tinygrad" tinygrad==0.14.0 numpy==2.4.6 torch==2.15.0
