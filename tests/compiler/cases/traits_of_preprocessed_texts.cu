// A name that libstdc++ gives a structure is no trait of clang's from there on, also where a text is preprocessed first: for a kernel
// that launches others, and for launch marks that stand apart in a header.
// run: nvcc -c %s
// expect: err is empty
// run: nvcc -rdc=true -arch=sm_70 -c launches.cu
// expect: err is empty
#include "marks.h"
__global__ void k(int* p) { *p = Test<int, int>::value; }
int main() { go(nullptr); }
//--- launches.cu
#include "marks.h"
__global__ void k(int* p) { *p = Test<int, int>::value; }
__global__ void parent(int* p) { k<<<1, 1>>>(p); }
int main() { parent<<<1, 1>>>(nullptr), go(nullptr); }
//--- marks.h
#include <type_traits>
#if __has_builtin(__is_nothrow_convertible)
template <class A, class B> struct Test { static constexpr bool value = __is_nothrow_convertible(A, B); };
#else
template <class A, class B> struct Test { static constexpr bool value = std::is_same<A, B>::value; };
#endif
__global__ void k(int* p);
inline void go(int* p) { k << <1, 4 >> >(p); }
