"""Taichi: a compiler of its own, and the driver."""
import numpy as np
import taichi as ti
from cases import case, close, finish

ti.init(arch=ti.cuda)
assert ti.lang.impl.current_cfg().arch == ti.cuda
N = 512
x, y, s = ti.field(ti.f32, N), ti.field(ti.f32, N), ti.field(ti.f32, ())


@ti.kernel
def fill():
    for i in x:
        x[i] = i * 0.5


@ti.kernel
def waves():
    for i in x:
        y[i] = ti.sin(x[i]) + ti.sqrt(x[i])


@ti.kernel
def total() -> ti.f32:
    sum = 0.0
    for i in x:
        sum += x[i]
    return sum


@ti.kernel
def product(a: ti.types.ndarray(), b: ti.types.ndarray(), c: ti.types.ndarray()):
    for i, j in ti.ndrange(a.shape[0], b.shape[1]):
        sum = 0.0
        for k in range(a.shape[1]):
            sum += a[i, k] * b[k, j]
        c[i, j] = sum


@case
def fields():
    fill()
    close(x.to_numpy(), np.arange(N) * 0.5)


@case
def functions():
    fill()
    waves()
    close(y.to_numpy(), np.sin(np.arange(N) * 0.5) + np.sqrt(np.arange(N) * 0.5), 1e-4)


@case
def sums():
    fill()
    close(total(), (np.arange(N) * 0.5).sum(), 1e-3)


@case
def arrays_of_numpy():
    a, b = np.random.default_rng(1).random((2, 20, 20), np.float32)
    c = np.zeros((20, 20), np.float32)
    product(a, b, c)
    close(c, a @ b, 1e-4)


@case
def gradients():
    a, loss = ti.field(ti.f32, 16, needs_grad=True), ti.field(ti.f32, (), needs_grad=True)

    @ti.kernel
    def energy():
        for i in a:
            loss[None] += a[i] ** 2

    a.from_numpy(np.arange(16, dtype=np.float32))
    with ti.ad.Tape(loss):
        energy()
    close(a.grad.to_numpy(), 2 * np.arange(16))


finish("Taichi", "taichi", "numpy")
