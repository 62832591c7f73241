// Device and engine reach the program, and its name is that of its source.
// run: warpbeam run --device k40 --engine=interpreter %s
// expect: out is ./%n k40 interpreter
#include <cstdio>
#include <cstdlib>
int main(int, char** v) { std::printf("%s %s %s", v[0], std::getenv("WARPBEAM_DEVICE"), std::getenv("WARPBEAM_ENGINE")); }
