"""NVIDIA Warp: a static runtime, and kernels that it compiles itself."""
import numpy as np
import warp as wp
from cases import case, close, finish

wp.init()
wp.set_device("cuda:0")
N = 1000
DATA = np.random.default_rng(1).random(N, np.float32)


@wp.kernel
def waves(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = wp.sin(a[i]) * 2.0


@wp.kernel
def total(a: wp.array(dtype=float), sum: wp.array(dtype=float)):
    wp.atomic_add(sum, 0, a[wp.tid()])


@wp.kernel
def turn(q: wp.quat, a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    b[i] = wp.quat_rotate(q, a[i])


@wp.func
def cube(x: float):
    return x * x * x


@wp.kernel
def loss(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    wp.atomic_add(out, 0, cube(a[wp.tid()]))


@case
def launches():
    a, b = wp.array(DATA, dtype=float), wp.zeros(N, dtype=float)
    wp.launch(waves, N, inputs=[a, b])
    close(b.numpy(), np.sin(DATA) * 2)


@case
def atomics():
    a, sum = wp.array(DATA, dtype=float), wp.zeros(1, dtype=float)
    wp.launch(total, N, inputs=[a, sum])
    close(sum.numpy()[0], DATA.sum(), 1e-3)


@case
def vectors():
    a, b = wp.array(np.eye(3, dtype=np.float32), dtype=wp.vec3), wp.zeros(3, dtype=wp.vec3)
    wp.launch(turn, 3, inputs=[wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), float(np.pi / 2)), a, b])
    close(b.numpy(), [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])


@case
def gradients():
    a, out = wp.array(DATA, dtype=float, requires_grad=True), wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(loss, N, inputs=[a, out])
    tape.backward(out)
    close(a.grad.numpy(), 3 * DATA**2, 1e-4)


@case
def graphs():
    a, b = wp.array(DATA, dtype=float), wp.zeros(N, dtype=float)
    wp.launch(waves, N, inputs=[a, b])
    with wp.ScopedCapture() as capture:
        wp.launch(waves, N, inputs=[a, b])
        wp.launch(waves, N, inputs=[b, a])
    wp.capture_launch(capture.graph)
    close(a.numpy(), np.sin(np.sin(DATA) * 2) * 2, 1e-4)


@case
def streams():
    stream = wp.Stream()
    with wp.ScopedStream(stream):
        a = wp.array(DATA, dtype=float)
        b = wp.zeros(N, dtype=float)
        wp.launch(waves, N, inputs=[a, b])
    wp.synchronize_stream(stream)
    close(b.numpy(), np.sin(DATA) * 2)


finish("NVIDIA Warp", "warp-lang", "numpy")
