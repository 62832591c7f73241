"""Heat spreads over a plate, one step after another in one cooperative launch, with a kernel written in Python."""
import numpy as np
from numba import cuda


@cuda.jit
def spread(now, then, steps):
    x, y = cuda.grid(2)
    grid = cuda.cg.this_grid()
    inside = 0 < x < now.shape[0] - 1 and 0 < y < now.shape[1] - 1
    for step in range(steps):
        a, b = (now, then) if step % 2 == 0 else (then, now)
        if inside:
            b[x, y] = a[x, y] + 0.2 * (a[x - 1, y] + a[x + 1, y] + a[x, y - 1] + a[x, y + 1] - 4 * a[x, y])
        grid.sync()


def main():
    plate = np.zeros((64, 64))
    plate[0, :] = 100
    expected = plate.copy()
    for _ in range(100):
        inner = expected[1:-1, 1:-1]
        expected[1:-1, 1:-1] = inner + 0.2 * (expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:] - 4 * inner)
    now, then = cuda.to_device(plate), cuda.to_device(plate)
    spread[(4, 4), (16, 16)](now, then, 100)
    result = now.copy_to_host()
    print(f"the middle is at {result[32, 32]:.6f}, NumPy says {expected[32, 32]:.6f}")
    assert np.allclose(result, expected)


if __name__ == "__main__":
    main()
