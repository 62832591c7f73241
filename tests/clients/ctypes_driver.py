"""Runs PTX through libcuda.so.1 with nothing but ctypes, as small bindings do."""
import ctypes as c

PTX = b"""
.version 6.5
.target sm_50
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [data];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r4, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r4;
  @%p bra END;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d2, %d1, %d2;
  ld.global.f32 %f2, [%d2];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%d2], %f2;
END:
  ret;
}
"""

cuda = c.CDLL("libcuda.so.1")


def check(result):
    if result:
        name = c.c_char_p()
        cuda.cuGetErrorName(result, c.byref(name))
        raise RuntimeError(name.value.decode())


check(cuda.cuInit(0))
device, context, module, function = c.c_int(), c.c_void_p(), c.c_void_p(), c.c_void_p()
check(cuda.cuDeviceGet(c.byref(device), 0))
name = c.create_string_buffer(100)
check(cuda.cuDeviceGetName(name, len(name), device))
print(name.value.decode())
check(cuda.cuCtxCreate_v2(c.byref(context), 0, device))
check(cuda.cuModuleLoadData(c.byref(module), PTX))
check(cuda.cuModuleGetFunction(c.byref(function), module, b"scale"))

n = 1000
host = (c.c_float * n)(*range(n))
memory = c.c_uint64()
check(cuda.cuMemAlloc_v2(c.byref(memory), c.c_size_t(c.sizeof(host))))
check(cuda.cuMemcpyHtoD_v2(memory, host, c.c_size_t(c.sizeof(host))))
arguments = [memory, c.c_float(2.5), c.c_uint(n)]
pointers = (c.c_void_p * 3)(*[c.cast(c.pointer(a), c.c_void_p) for a in arguments])
check(cuda.cuLaunchKernel(function, (n + 127) // 128, 1, 1, 128, 1, 1, 0, None, pointers, None))
check(cuda.cuCtxSynchronize())
check(cuda.cuMemcpyDtoH_v2(host, memory, c.c_size_t(c.sizeof(host))))
assert list(host) == [2.5 * i for i in range(n)]

assert cuda.cuModuleGetFunction(c.byref(function), module, b"nothing") == 500
assert cuda.cuMemFree_v2(c.c_uint64(4096)) == 1
check(cuda.cuMemFree_v2(memory))
check(cuda.cuModuleUnload(module))
check(cuda.cuCtxDestroy_v2(context))
print("ok")
