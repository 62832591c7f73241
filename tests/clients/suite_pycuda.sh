# A part of PyCUDA's tests. It is compiled here, with the toolkit that it finds.
. "$WARPBEAM_CLIENTS/python/environment.sh"
export PATH=$WARPBEAM_BUILD/bin:$PATH CUDA_PATH=$WARPBEAM_BUILD CUDA_HOME=$WARPBEAM_BUILD LIBRARY_PATH=$WARPBEAM_LIBRARIES
python_suite pycuda "https://github.com/inducer/pycuda v2026.1 pycuda" pycuda==2026.1 mako==1.4.3 numpy==2.4.6
