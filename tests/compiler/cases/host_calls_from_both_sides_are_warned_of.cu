// A __host__ function that is called from __host__ __device__ is warned of, unless the source asks for silence.
// run: nvcc -c %s
// expect: err has %s:11:
// expect: err has warning: reference to __host__ function 'Data'
// expect: err has trap
// run: nvcc -c quiet.cu
// expect: err lacks Data
// run: nvcc -c loud.cu
// expect: err has warning: reference to __host__ function 'Data'
template <class T> struct Data { T n; Data() : n(1) {} };
template <class T> struct Unary { __host__ __device__ Data<T> operator()(T x) const { Data<T> r; r.n = x; return r; } };
template <class F> __global__ void k(F f, float* o) { *o = f(3.f).n; }
int main() { k<<<1, 1>>>(Unary<float>(), nullptr); }
//--- quiet.cu
#pragma nv_exec_check_disable
template <class T> struct Data { T n; Data() : n(1) {} };
template <class T> struct Unary { __host__ __device__ Data<T> operator()(T x) const { Data<T> r; r.n = x; return r; } };
template <class F> __global__ void k(F f, float* o) { *o = f(3.f).n; }
int main() { k<<<1, 1>>>(Unary<float>(), nullptr); }
//--- loud.cu
// Without #pragma nv_exec_check_disable, "nv_exec_check_disable" or hd_warning_disable:
template <class T> struct Data { T n; Data() : n(1) {} };
template <class T> struct Unary { __host__ __device__ Data<T> operator()(T x) const { Data<T> r; r.n = x; return r; } };
template <class F> __global__ void k(F f, float* o) { *o = f(3.f).n; }
int main() { k<<<1, 1>>>(Unary<float>(), nullptr); }
