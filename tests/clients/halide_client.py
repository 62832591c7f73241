"""A blur through shared memory, a histogram by atomics and a scan of doubles, against numpy."""
import halide as hl
import numpy as np

gpu = hl.get_host_target().with_feature(hl.TargetFeature.CUDA).with_feature(hl.TargetFeature.CUDACapability61)
x, y, xi, yi = (hl.Var(name) for name in ("x", "y", "xi", "yi"))
random = np.random.RandomState(1)
image = random.rand(130, 200).astype(np.float32)
pixels = hl.BoundaryConditions.repeat_edge(hl.Buffer(np.asfortranarray(image.T)))


def check(function, wanted, tolerance):
    result = function.realize(list(reversed(wanted.shape)), gpu)
    result.copy_to_host()
    worst = np.abs(np.array(result).T - wanted).max()
    assert worst <= tolerance, f"{function.name()}: {worst}"


rows, blurred = hl.Func("rows"), hl.Func("blurred")
rows[x, y] = (pixels[x - 1, y] + pixels[x, y] + pixels[x + 1, y]) / 3
blurred[x, y] = (rows[x, y - 1] + rows[x, y] + rows[x, y + 1]) / 3
blurred.gpu_tile(x, y, xi, yi, 16, 8)
rows.compute_at(blurred, x).gpu_threads(x, y)
padded = np.pad(image, 1, mode="edge").astype(np.float64)
across = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
check(blurred, (across[:-2] + across[1:-1] + across[2:]) / 3, 1e-5)

grey = random.randint(0, 64, (100, 120)).astype(np.uint8)
levels, place, count = hl.Buffer(np.asfortranarray(grey.T)), hl.RDom([(0, 120), (0, 100)]), hl.Func("count")
count[x] = hl.u32(0)
count[hl.i32(levels[place.x, place.y])] += hl.u32(1)
count.compute_root().gpu_tile(x, xi, 32)
count.update().atomic().gpu_tile(place.x, place.y, hl.RVar("rxi"), hl.RVar("ryi"), 8, 8)
check(count, np.bincount(grey.ravel(), minlength=64), 0)

step, sums, scanned = hl.RDom([(1, 127)]), hl.Func("sums"), hl.Func("scanned")
sums[x, y] = hl.f64(pixels[x, y])
sums[step.x, y] += sums[step.x - 1, y]
scanned[x, y] = sums[x, y]
scanned.gpu_blocks(y).gpu_threads(x)
sums.compute_at(scanned, y)
check(scanned, np.cumsum(image[:100, :128].astype(np.float64), axis=1), 1e-9)
