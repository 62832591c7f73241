"""NVIDIA Warp: particles that fall and bounce."""
import numpy as np
import warp as wp


@wp.kernel
def step(positions: wp.array(dtype=wp.vec3), velocities: wp.array(dtype=wp.vec3), dt: float):
    i = wp.tid()
    v = velocities[i] + wp.vec3(0.0, -9.81, 0.0) * dt
    p = positions[i] + v * dt
    if p[1] < 0.0:
        p = wp.vec3(p[0], -p[1], p[2])
        v = wp.vec3(v[0], -0.8 * v[1], v[2])
    positions[i] = p
    velocities[i] = v


with wp.ScopedDevice("cuda:0"):
    positions = wp.array(np.random.default_rng(1).random((1000, 3), np.float32) + [0, 1, 0], dtype=wp.vec3)
    velocities = wp.zeros(1000, dtype=wp.vec3)
    for _ in range(200):
        wp.launch(step, 1000, inputs=[positions, velocities, 0.01])
    heights = positions.numpy()[:, 1]
    print(f"after 2 s: lowest {heights.min():.3f} m, highest {heights.max():.3f} m")
