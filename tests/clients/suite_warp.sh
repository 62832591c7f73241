# A part of the tests in NVIDIA Warp's wheel.
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite warp package: warp-lang==1.19.0 numpy==2.4.6
