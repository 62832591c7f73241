"""tinygrad: the driver and NVRTC by ctypes."""
import numpy as np
from cases import case, close, finish
from tinygrad import Device, Tensor, TinyJit, nn

assert Device.DEFAULT.startswith("CUDA"), Device.DEFAULT
A, B = np.random.default_rng(1).random((2, 32, 32), np.float32)


@case
def elementwise():
    close((Tensor(A).sin() * 2 + Tensor(B)).numpy(), np.sin(A) * 2 + B)


@case
def products():
    close((Tensor(A) @ Tensor(B)).numpy(), A @ B, 1e-4)


@case
def reductions():
    close(Tensor(A).sum(axis=0).numpy(), A.sum(axis=0), 1e-4)
    close(Tensor(A).softmax().sum(axis=1).numpy(), np.ones(32), 1e-4)


@case
def gradients():
    a = Tensor(A)
    (gradient,) = (a * a).sum().gradient(a)
    close(gradient.numpy(), 2 * A)


@case
def graphs():
    @TinyJit
    def f(x):
        return (x * 2 + 1).relu().sum(axis=1).realize()

    for _ in range(4):
        close(f(Tensor(A).realize()).numpy(), (A * 2 + 1).sum(axis=1), 1e-3)


@case
def layers():
    layer = nn.Conv2d(1, 4, 3)
    assert layer(Tensor.rand(2, 1, 8, 8)).numpy().shape == (2, 4, 6, 6)


finish("tinygrad", "tinygrad", "numpy")
