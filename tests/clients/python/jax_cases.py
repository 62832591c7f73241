"""JAX with its plug-in for CUDA."""
import jax
import jax.numpy as jnp
import numpy as np
from cases import case, close, finish


@case
def the_device_is_there():
    (device,) = jax.devices()
    assert device.platform == "gpu", device


@case
def elementwise_and_reductions():
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    close(jnp.sin(x) * 2 + 1, np.sin(x) * 2 + 1)
    close(jnp.sum(jnp.asarray(x) ** 2), np.sum(x ** 2), 1e-4)
    assert int(jnp.argmax(jnp.asarray(x))) == 999


@case
def jit():
    f = jax.jit(lambda a, b: jnp.where(a > 0, a * b, b - a))
    a, b = np.random.default_rng(1).normal(size=(2, 333)).astype(np.float32)
    close(f(a, b), np.where(a > 0, a * b, b - a))


@case
def grad():
    g = jax.grad(lambda w: jnp.sum(jnp.tanh(w) ** 2))
    w = np.linspace(-1, 1, 64, dtype=np.float32)
    close(g(w), 2 * np.tanh(w) * (1 - np.tanh(w) ** 2))


@case
def matrix_products():
    a, b = np.random.default_rng(2).normal(size=(2, 96, 96)).astype(np.float32)
    close(jnp.dot(a, b, precision="highest"), a @ b, 1e-4)
    close(jnp.einsum("ij,kj->ik", a, b, precision="highest"), a @ b.T, 1e-4)


@case
def scans_and_sorting():
    x = np.random.default_rng(3).normal(size=500).astype(np.float32)
    close(jnp.cumsum(x), np.cumsum(x), 1e-4)
    close(jnp.sort(x), np.sort(x))
    total, _ = jax.lax.scan(lambda c, v: (c + v, c), jnp.float32(0), x)
    close(total, x.sum(), 1e-3)


@case
def random_numbers():
    key = jax.random.key(5)
    u = np.asarray(jax.random.uniform(key, (10000,)))
    n = np.asarray(jax.random.normal(key, (10000,)))
    assert 0.48 < u.mean() < 0.52 and 0.97 < n.std() < 1.03
    with jax.default_device(jax.devices("cpu")[0]):
        close(jax.random.uniform(jax.random.key(5), (10000,)), u)


@case
def vmap_and_indexing():
    x = jnp.arange(24.0).reshape(4, 6)
    close(jax.vmap(lambda r: r[::-1] * r.sum())(x), np.asarray(x)[:, ::-1] * np.asarray(x).sum(1, keepdims=True))
    close(x.at[1, 2:4].set(7)[1], [6, 7, 7, 7, 10, 11])


@case
def transforms():
    x = np.random.default_rng(4).normal(size=(4, 64)).astype(np.float32)
    close(jnp.fft.fft(x), np.fft.fft(x), 1e-4)


@case
def linear_algebra():
    a = np.random.default_rng(6).normal(size=(12, 12)).astype(np.float32)
    s = a @ a.T + 12 * np.eye(12, dtype=np.float32)
    close(jnp.linalg.cholesky(s), np.linalg.cholesky(s), 1e-3)
    close(jnp.linalg.solve(s, a), np.linalg.solve(s, a), 1e-3)
    close(jnp.linalg.eigvalsh(s), np.linalg.eigvalsh(s), 1e-3)


@case
def training_loop():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(128, 8)).astype(np.float32)
    y = np.tanh(x @ rng.normal(size=(8, 1)).astype(np.float32))
    parameters = {"a": jnp.asarray(rng.normal(size=(8, 16)).astype(np.float32)) * 0.3, "b": jnp.asarray(rng.normal(size=(16, 1)).astype(np.float32)) * 0.3}
    loss = lambda p: jnp.mean((jnp.tanh(x @ p["a"]) @ p["b"] - y) ** 2)
    step = jax.jit(lambda p: jax.tree.map(lambda v, g: v - 0.1 * g, p, jax.grad(loss)(p)))
    first = float(loss(parameters))
    for _ in range(60):
        parameters = step(parameters)
    assert float(loss(parameters)) < first / 3


@case
def convolutions():
    rng = np.random.default_rng(3)
    here, there = jax.devices()[0], jax.devices("cpu")[0]

    def both(f, *arguments, by=1e-3):
        mine = jax.jit(f)(*arguments)
        with jax.default_device(there):
            theirs = jax.jit(f)(*[jax.device_put(a, there) for a in arguments])
        jax.tree.map(lambda a, b: close(a, b, by), mine, theirs)

    def drawn(*shape):
        return rng.random(shape).astype(np.float32)

    conv = jax.lax.conv_general_dilated
    assert here.platform == "gpu"
    both(lambda x, w: conv(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), drawn(2, 9, 11, 3), drawn(3, 2, 3, 5))
    both(lambda x, w: conv(x, w, (1, 2), [(-1, 2), (0, 3)], (2, 1), (1, 2)), drawn(2, 3, 9, 11), drawn(5, 3, 3, 2))
    both(lambda x, w: conv(x, w, (1, 1), "SAME", feature_group_count=3), drawn(2, 6, 8, 8), drawn(9, 2, 3, 3))
    both(lambda x, w: conv(x, w, (1, 1), "SAME", batch_group_count=2), drawn(4, 3, 8, 8), drawn(6, 3, 3, 3))
    both(lambda x, w: jnp.convolve(x, w), drawn(300), drawn(200))
    both(lambda x, w: conv(x, w, (1, 1), "SAME").astype(jnp.float32), drawn(2, 3, 9, 9).astype(np.float16), drawn(4, 3, 3, 3).astype(np.float16), by=2e-2)
    both(jax.grad(lambda x, w: (conv(x, w, (2, 2), "SAME") ** 2).sum(), (0, 1)), drawn(2, 3, 28, 28), drawn(6, 3, 11, 11), by=1e-2)


finish("JAX", "jax", "jax-cuda13-plugin", "numpy")
