// A program that a signal ends has a shell's status for it.
// run: ASAN_OPTIONS=$quiet UBSAN_OPTIONS=$quiet TSAN_OPTIONS=$quiet warpbeam run %s
// expect: status 139
// expect: err has signal 11
// run: ASAN_OPTIONS=$quiet UBSAN_OPTIONS=$quiet TSAN_OPTIONS=$quiet warpbeam run t.cu
// expect: status 134
#include <csignal>
int main() { std::raise(SIGSEGV); }
//--- t.cu
#include <cstdlib>
int main() { std::abort(); }
