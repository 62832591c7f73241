// With -DNDEBUG, PyTorch's headers do for the host and libcu++'s for both sides.
// run: nvcc -DNDEBUG -DSIDE= %s -o e
// run: nvcc -DNDEBUG -DSIDE= -ptx %s
// expect: ptx has __assertfail
// run: nvcc -DNDEBUG -DSIDE='__host__ __device__' %s -o e
// run: nvcc -DNDEBUG -DSIDE='__host__ __device__' -ptx %s
// expect: ptx has __assertfail
extern "C" SIDE void __assert_fail(const char*, const char*, unsigned int, const char*) noexcept __attribute__((__noreturn__));
__host__ __device__ void f(int x) { if (x) __assert_fail("x", "f", 1, "f"); }
__global__ void k(int x) { f(x); }
int main() { f(0); }
