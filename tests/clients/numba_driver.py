"""What Numba can do with the driver alone."""
import ctypes

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import driver

PTX = b"""
.version 6.5
.target sm_50
.address_size 64
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %d<4>;
  ld.param.f32 %f1, [a];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u32 %r4, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r4;
  @%p bra END;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d1];
  ld.global.f32 %f3, [%d2];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%d2], %f3;
END:
  ret;
}
"""

assert cuda.detect()
device = cuda.get_current_device()
context = cuda.current_context()
free, total = context.get_memory_info()
assert 0 < free <= total

# Arrays: to the device and back, and parts of them.
a = np.arange(1000, dtype=np.float32)
stream = cuda.stream()
d = cuda.to_device(a, stream=stream)
stream.synchronize()
assert (d.copy_to_host() == a).all()
assert (d[10:20].copy_to_host() == a[10:20]).all()
e = cuda.device_array((4, 5), dtype=np.int32)
e.copy_to_device(np.arange(20, dtype=np.int32).reshape(4, 5))
assert e.copy_to_host().sum() == 190

# Host memory of each kind.
pinned = cuda.pinned_array(100, dtype=np.float32)
pinned[:] = 3
d2 = cuda.to_device(pinned)
managed = cuda.managed_array(100, dtype=np.float32)
managed[:] = 4
mapped = cuda.mapped_array(100, dtype=np.float32)
mapped[:] = 5
with cuda.pinned(a):
    assert (cuda.to_device(a, stream=stream).copy_to_host(stream=stream) == a).all()

# PTX: loaded, linked, launched.
module = context.create_module_ptx(PTX)
axpy = module.get_function("axpy")
assert axpy.attrs.maxthreads == 1024


def launch(function, x, y, n, on):
    arguments = [
        ctypes.c_float(2),
        ctypes.c_uint64(driver.device_pointer(x)),
        ctypes.c_uint64(driver.device_pointer(y)),
        ctypes.c_uint32(n),
    ]
    driver.launch_kernel(function.handle, (n + 127) // 128, 1, 1, 128, 1, 1, 0, on.handle, arguments)


start, stop = cuda.event(), cuda.event()
x, y = cuda.to_device(a), cuda.to_device(np.ones(1000, dtype=np.float32))
start.record(stream)
launch(axpy, x, y, 1000, stream)
stop.record(stream)
stop.synchronize()
assert start.elapsed_time(stop) >= 0
assert (y.copy_to_host() == 2 * a + 1).all()
launch(axpy, managed, mapped, 100, stream)
stream.synchronize()
assert (mapped == 13).all()

linker = driver.Linker.new(cc=device.compute_capability)
linker.add_ptx(PTX, "axpy")
image, size = linker.complete()
linked = context.create_module_image(ctypes.string_at(image, size))
launch(linked.get_function("axpy"), x, y, 1000, stream)
stream.synchronize()
assert (y.copy_to_host() == 4 * a + 1).all()

# Mistakes are reported.
try:
    context.create_module_ptx(b".version 6.5\n.target sm_50\n.address_size 64\n.entry k() { nonsense; }\n")
    raise SystemExit("bad PTX was accepted")
except driver.LinkerError as error:
    assert "nonsense" in str(error), error
except driver.CudaAPIError as error:
    assert "218" in str(error), error
print("ok")
