// What is wrong with a command line is said, with what may have been meant.
// run: nvcc
// expect: status 1
// expect: err has No input files
// run: nvcc -foo %s
// expect: status 1
// expect: err has Unknown option '-foo'
// run: nvcc missing.cu
// expect: status 1
// expect: err has no such file: 'missing.cu'
// run: nvcc -optix-ir %s
// expect: status 1
// expect: err has there is no OptiX here
// run: warpbeam rnu
// expect: status 2
// expect: err has did you mean 'run'
// run: warpbeam run
// expect: status 1
// expect: err has no source
// run: warpbeam run --device h2000 %s
// expect: status 1
// expect: err has did you mean 'h200'
// run: warpbeam run --engine fast %s
// expect: status 1
// expect: err has interpreter, jit or auto
// run: warpbeam run %s 10
// expect: status 1
// expect: err has go after --
// run: warpbeam run -c %s
// expect: status 1
// run: warpbeam run -o x %s
// expect: status 1
int main() {}
