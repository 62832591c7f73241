"""Numba's compiler for CUDA: Python to NVVM's language, that to PTX by Warpbeam's libnvvm, linked by its nvJitLink."""
import math
import warnings

import numpy as np
from cases import case, close, finish
from numba import cuda, float32, guvectorize, int32, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

warnings.simplefilter("ignore")  # small grids, arrays of the host


@case
def elements():
    @cuda.jit
    def add(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + math.sin(b[i])

    a, b, c = np.random.rand(1000), np.random.rand(1000), np.zeros(1000)
    add[10, 128](a, b, c)
    close(c, a + np.sin(b), 1e-14)


@case
def shared_memory_and_atomics():
    @cuda.jit
    def total(a, out):
        s = cuda.shared.array(256, dtype=np.float32)
        t = cuda.threadIdx.x
        s[t] = a[cuda.grid(1)]
        cuda.syncthreads()
        k = 128
        while k > 0:
            if t < k:
                s[t] += s[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            cuda.atomic.add(out, 0, s[0])

    a, out = np.ones(1024, np.float32), np.zeros(1, np.float32)
    total[4, 256](a, out)
    assert out[0] == 1024


@case
def matrix_product_in_tiles():
    @cuda.jit
    def product(a, b, c):
        sa, sb = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for k in range(a.shape[1] // 16):
            sa[tx, ty] = a[x, ty + k * 16]
            sb[tx, ty] = b[tx + k * 16, y]
            cuda.syncthreads()
            for j in range(16):
                total += sa[tx, j] * sb[j, ty]
            cuda.syncthreads()
        c[x, y] = total

    a, b = np.random.rand(64, 64).astype(np.float32), np.random.rand(64, 64).astype(np.float32)
    c = np.zeros((64, 64), np.float32)
    product[(4, 4), (16, 16)](a, b, c)
    close(c, a @ b)


@case
def warps():
    @cuda.jit
    def votes(out, shuffled):
        lane = cuda.grid(1)
        out[lane] = cuda.ballot_sync(0xFFFFFFFF, lane % 3 == 0)
        shuffled[lane] = cuda.shfl_xor_sync(0xFFFFFFFF, lane, 5)

    out, shuffled = np.zeros(32, np.uint32), np.zeros(32, np.int32)
    votes[1, 32](out, shuffled)
    assert (out == sum(1 << i for i in range(0, 32, 3))).all() and (shuffled == np.arange(32) ^ 5).all()


@case
def threads_that_part():
    @cuda.jit
    def masks(out):
        i = cuda.grid(1)
        if i % 2 == 0:
            out[i] = cuda.activemask()
        else:
            out[i] = cuda.activemask()

    out = np.zeros(32, np.uint32)
    masks[1, 32](out)
    assert (out[::2] == 0x55555555).all() and (out[1::2] == 0xAAAAAAAA).all()


@case
def cooperative_grid():
    @cuda.jit
    def rows(m):
        column, grid = cuda.grid(1), cuda.cg.this_grid()
        for row in range(1, m.shape[0]):
            m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
            grid.sync()

    m = np.zeros((64, 128), np.int32)
    rows[4, 32](m)
    assert (m == np.arange(64)[:, None]).all()


@case
def fast_math():
    @cuda.jit(fastmath=True)
    def f(x, y):
        i = cuda.grid(1)
        y[i] = math.cos(x[i]) + math.sqrt(x[i]) / x[i]

    x, y = np.linspace(0.5, 3, 64, dtype=np.float32), np.zeros(64, np.float32)
    f[1, 64](x, y)
    close(y, np.cos(x) + np.sqrt(x) / x, 1e-5)
    assert "cos.approx.ftz.f32" in next(iter(f.inspect_asm().values()))


@case
def vectorize_and_guvectorize():
    @vectorize([float32(float32, float32)], target="cuda")
    def scaled(a, b):
        return a * b + 1

    a = np.arange(1000, dtype=np.float32)
    close(scaled(a, a), a * a + 1)

    @guvectorize([(float32[:], float32[:])], "(n)->()", target="cuda")
    def total(row, out):
        s = float32(0)
        for x in row:
            s += x
        out[0] = s

    m = np.arange(40, dtype=np.float32).reshape(8, 5)
    close(total(m), m.sum(1))


@case
def reduction():
    add = cuda.reduce(lambda a, b: a + b)
    assert add(np.arange(5000.0)) == 5000 * 4999 / 2


@case
def random_numbers():
    @cuda.jit
    def draw(states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float32(states, i)

    states, out = create_xoroshiro128p_states(4096, seed=1), np.zeros(4096, np.float32)
    draw[32, 128](states, out)
    assert 0 <= out.min() and out.max() < 1 and abs(out.mean() - 0.5) < 0.02


@case
def streams_and_events():
    stream = cuda.stream()
    start, end = cuda.event(), cuda.event()

    @cuda.jit
    def twice(a):
        a[cuda.grid(1)] *= 2

    a = cuda.to_device(np.arange(256.0), stream)
    start.record(stream)
    twice[2, 128, stream](a)
    end.record(stream)
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) >= 0
    close(a.copy_to_host(), 2 * np.arange(256.0))


@case
def cuda_source_linked_in():
    source = cuda.CUSource("extern \"C\" __device__ int twice_plus(int* out, int a) { *out = 2 * a + 1; return 0; }")
    twice_plus = cuda.declare_device("twice_plus", int32(int32), link=source)

    @cuda.jit
    def f(a):
        i = cuda.grid(1)
        a[i] = twice_plus(a[i])

    a = np.arange(32, dtype=np.int32)
    f[1, 32](a)
    assert (a == 2 * np.arange(32) + 1).all()


finish("Numba", "numba-cuda", "numba", "llvmlite", "numpy")
