// Options come from files and from the environment, too.
// run: nvcc -E %s -optf flags
// expect: out has int x = 1
// run: NVCC_APPEND_FLAGS=-DX=7 nvcc -E %s
// expect: out has int x = 7
int x = X; const char* y = "Y";
//--- flags
-DX=1 "-DY=a b"
