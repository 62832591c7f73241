# Build systems that look for a CUDA toolkit find Warpbeam's build directory: CMake's CUDAToolkit and its targets, Meson, and
# makefiles with pkg-config, an object of g++'s linker and a CUDA_HOME.
set -eu
for tool in cmake ninja meson make pkg-config g++; do
  command -v "$tool" >/dev/null || { echo "needs $tool"; exit 77; }
done
export CUDA_PATH=$WARPBEAM_BUILD CUDA_HOME=$WARPBEAM_BUILD PATH=$WARPBEAM_BUILD/bin:$PATH
project=$WARPBEAM_CLIENTS/toolkit_project
cmake -S "$project" -B cmake -G Ninja
cmake --build cmake
cmake/app
meson setup meson "$project"
ninja -C meson
meson/app
export PKG_CONFIG_PATH=$CUDA_HOME/lib64/pkgconfig
cat >Makefile <<'MAKE'
NVCC := $(CUDA_HOME)/bin/nvcc
NVCCFLAGS := -ccbin $(CXX) -m64 -Xcompiler ,"-fPIC","-g" -Xcompiler=-Wall\,-O2 -gencode arch=compute_80,code=\"compute_80,sm_80\" -DNAME=\"a\ b\" -rdc=true
app: main.o parts.o link.o kernels.o
	$(CXX) $^ -o $@ $$(pkg-config --libs cublas-13.0 cufft cudart) -L$(CUDA_HOME)/lib64/stubs -lcuda -lcudadevrt
link.o: main.o parts.o kernels.o
	$(NVCC) $(NVCCFLAGS) -dlink $^ -o $@
%.o: $(PROJECT)/%.cu
	$(NVCC) $(NVCCFLAGS) -I$(CUDA_HOME)/targets/x86_64-linux/include -MMD -MP -MF $*.d -c $< -o $@
-include $(wildcard *.d)
MAKE
make PROJECT="$project"
./app
make -q PROJECT="$project"
