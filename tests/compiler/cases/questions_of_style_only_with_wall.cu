// What clang asks of style is asked with -Wall alone.
// run: nvcc -c %s
// expect: err has stack memory
// expect: err lacks 2.7
// expect: err lacks linkage
// run: nvcc -c -Xcompiler -Wall %s
// expect: err has stack memory
// expect: err has 2.7
// expect: err has linkage
// run: cp %s %n.cpp
// run: nvcc -c %n.cpp
// expect: err has stack memory
// expect: err lacks 2.7
// expect: err lacks linkage
// run: nvcc -c -Xcompiler -Wall %n.cpp
// expect: err has stack memory
// expect: err has 2.7
// expect: err has linkage
struct V { int a; V() : a(0) {} };
extern "C" V make() { return V(); }
int lit() { int i = 2.7; return i; }
int* local() { int a; return &a; }
