// -E, and dependencies in all their forms.
// run: nvcc -E %s
// expect: out has int n = 3;
// run: nvcc -MM %s
// expect: out has %n.o: %s
// expect: out has n.h
// expect: out lacks stdlib.h
// run: nvcc -M %s
// expect: out has stdlib.h
// run: nvcc -MD -c %s -o x.o
// expect: x.d has x.o:
// expect: x.d has n.h
// run: nvcc -MMD -MP -MF deps -MT target -c %s
// expect: deps has target:
// expect: deps has n.h:
// run: nvcc -MMD -ptx %s
// expect: %n.d has %n.ptx:
// expect: %n.d has n.h
// run: nvcc -MMD -cubin -o e.bin %s
// expect: e.d has e.bin:
// expect: e.d has n.h
// run: nvcc -MMD -fatbin -MF f.deps %s
// expect: f.deps has %n.fatbin:
// run: nvcc -MM -odir out %s
// expect: out has out/%n.o:
#include "n.h"
int n = N;
//--- n.h
#define N 3
