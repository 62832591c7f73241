"""CuPy: its static runtime, NVRTC with the CCCL that it brings, CUB and Thrust in its extensions, and the libraries."""
import cupy as cp
import numpy as np
from cases import case, close, finish

RNG = np.random.default_rng(1)
A, B = RNG.random((40, 50), np.float32), RNG.random((40, 50), np.float32)


@case
def elementwise():
    close((cp.sin(cp.asarray(A)) * 2 + cp.asarray(B)).get(), np.sin(A) * 2 + B)


@case
def types_and_slices():
    a = cp.arange(100, dtype=cp.int16).reshape(10, 10)
    close(a[::2, 1::3].astype(cp.float64).T.get(), np.arange(100, dtype=np.int16).reshape(10, 10)[::2, 1::3].T)


@case
def reductions():
    a = cp.asarray(A)
    close(a.sum().get(), A.sum(), 1e-4)
    close(a.max(axis=0).get(), A.max(axis=0))
    close(a.mean(axis=1).get(), A.mean(axis=1))
    assert int(a.argmin()) == int(A.argmin())


@case
def scans():
    close(cp.cumsum(cp.asarray(A)).get(), np.cumsum(A), 1e-3)


@case
def sorting():
    close(cp.sort(cp.asarray(A), axis=1).get(), np.sort(A, axis=1))
    close(cp.argsort(cp.asarray(A[0])).get(), np.argsort(A[0]))


@case
def indexing():
    a = cp.asarray(A)
    close(a[a > 0.5].get(), A[A > 0.5])
    close(cp.where(a > 0.5, a, 0).get(), np.where(A > 0.5, A, 0))
    close(cp.nonzero(a > 0.9)[0].get(), np.nonzero(A > 0.9)[0])


@case
def raw_kernel():
    kernel = cp.RawKernel('extern "C" __global__ void twice(const float* a, float* b, int n) { int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n) b[i] = 2 * a[i]; }', "twice")
    a = cp.asarray(A.ravel())
    b = cp.empty_like(a)
    kernel(((a.size + 127) // 128,), (128,), (a, b, a.size))
    close(b.get(), 2 * A.ravel())


@case
def raw_module_with_templates():
    module = cp.RawModule(code="template <typename T> __global__ void add(T* a, T b) { a[threadIdx.x] += b; }", options=("-std=c++17",), name_expressions=("add<float>", "add<int>"))
    a, b = cp.zeros(32, cp.float32), cp.zeros(32, cp.int32)
    module.get_function("add<float>")((1,), (32,), (a, cp.float32(1.5)))
    module.get_function("add<int>")((1,), (32,), (b, cp.int32(3)))
    assert (a == 1.5).all() and (b == 3).all()


@case
def cooperative_groups():
    kernel = cp.RawKernel(r"""
        #include <cooperative_groups.h>
        extern "C" __global__ void turned(int* a, int* b) {
          auto grid = cooperative_groups::this_grid();
          a[grid.thread_rank()] = grid.thread_rank();
          grid.sync();
          b[grid.thread_rank()] = a[grid.size() - 1 - grid.thread_rank()];
        }""", "turned", enable_cooperative_groups=True)
    a, b = cp.zeros(256, cp.int32), cp.zeros(256, cp.int32)
    kernel((4,), (64,), (a, b))
    close(b.get(), np.arange(256)[::-1])


@case
def kernels_in_python():
    from cupyx import jit

    @jit.rawkernel()
    def turned(x, y):
        grid = jit.cg.this_grid()
        at = grid.thread_rank()
        part = jit.shared_memory(cp.int64, 64)
        part[jit.threadIdx.x] = at
        jit.syncthreads()
        x[at] = part[jit.threadIdx.x]
        grid.sync()
        y[at] = x[grid.size() - 1 - at]

    x, y = cp.zeros(256, cp.int64), cp.zeros(256, cp.int64)
    turned((4,), (64,), (x, y))
    close(y.get(), np.arange(256)[::-1])


@case
def elementwise_and_reduction_kernels():
    squared = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    a = cp.asarray(A)
    close(squared(a, cp.asarray(B)).get(), (A - B) ** 2)
    close(norm(a).get(), np.linalg.norm(A), 1e-4)


@case
def fused():
    @cp.fuse()
    def f(x, y):
        return cp.maximum(x, y) * x

    close(f(cp.asarray(A), cp.asarray(B)).get(), np.maximum(A, B) * A)


@case
def streams_and_events():
    stream, begin, end = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(), cp.cuda.Event()
    with stream:
        begin.record()
        a = cp.asarray(A) + 1
        end.record()
    stream.synchronize()
    assert cp.cuda.get_elapsed_time(begin, end) >= 0
    close(a.get(), A + 1)


@case
def matrix_products():
    close((cp.asarray(A) @ cp.asarray(B).T).get(), A @ B.T, 1e-4)


@case
def linear_algebra():
    m = A[:, :40] + 40 * np.eye(40, dtype=np.float32)
    close(cp.linalg.solve(cp.asarray(m), cp.asarray(B[:, 0])).get(), np.linalg.solve(m, B[:, 0]), 1e-4)
    close(cp.linalg.svd(cp.asarray(A), compute_uv=False).get(), np.linalg.svd(A, compute_uv=False), 1e-3)
    close(cp.linalg.eigvalsh(cp.asarray(m + m.T)).get(), np.linalg.eigvalsh(m + m.T), 1e-3)


@case
def transforms():
    close(cp.fft.fft2(cp.asarray(A)).get(), np.fft.fft2(A), 1e-2)
    close(cp.fft.irfft(cp.fft.rfft(cp.asarray(A))).get(), A, 1e-4)


@case
def sparse():
    from cupyx.scipy import sparse
    a = cp.asarray(A * (A > 0.7))
    close((sparse.csr_matrix(a) @ cp.asarray(B[0])).get(), (A * (A > 0.7)) @ B[0], 1e-4)


@case
def random_numbers():
    cp.random.seed(3)
    first = cp.random.normal(size=10000)
    cp.random.seed(3)
    assert (first == cp.random.normal(size=10000)).all()
    assert abs(float(first.mean())) < 0.05 and abs(float(first.std()) - 1) < 0.05
    assert 0 <= float(cp.random.default_rng(1).random(100).min())


@case
def memory_pools():
    pool = cp.get_default_memory_pool()
    a = cp.zeros(1 << 20)
    assert pool.used_bytes() >= a.nbytes
    del a
    pool.free_all_blocks()


@case
def errors_have_names():
    try:
        cp.RawKernel('extern "C" __global__ void k() { rubbish; }', "k").compile()
    except cp.cuda.compiler.CompileException as wrong:
        assert "rubbish" in str(wrong)
    else:
        raise AssertionError("compiled")


finish("CuPy", "cupy-cuda12x", "numpy")
