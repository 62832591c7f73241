"""cuda-python: bindings of the driver and of the runtime that is linked into them, and cuda.core on top."""
import ctypes

import numpy as np
from cases import case, finish
from cuda.bindings import driver, nvrtc, runtime
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = 'extern "C" __global__ void add(int* a, int b) { a[threadIdx.x] += b; }'


def ok(result):
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else values


@case
def runtime_memory():
    assert ok(runtime.cudaGetDeviceCount()) >= 1
    pointer = ok(runtime.cudaMalloc(400))
    host, back = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)
    ok(runtime.cudaMemcpy(pointer, host.ctypes.data, 400, runtime.cudaMemcpyKind.cudaMemcpyHostToDevice))
    ok(runtime.cudaMemcpy(back.ctypes.data, pointer, 400, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost))
    assert (host == back).all()
    ok(runtime.cudaFree(pointer))


@case
def runtime_streams_and_events():
    stream, event = ok(runtime.cudaStreamCreate()), ok(runtime.cudaEventCreate())
    ok(runtime.cudaEventRecord(event, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert int(runtime.cudaEventQuery(event)[0]) == 0


@case
def runtime_properties():
    properties = ok(runtime.cudaGetDeviceProperties(0))
    assert properties.multiProcessorCount > 0 and properties.name


@case
def driver_and_nvrtc():
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuCtxSetCurrent(context))
    program = ok(nvrtc.nvrtcCreateProgram(CODE.encode(), b"add.cu", 0, [], []))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_75"]))
    ptx = bytearray(ok(nvrtc.nvrtcGetPTXSize(program)))
    as_bytes = b" " * len(ptx)
    ok(nvrtc.nvrtcGetPTX(program, as_bytes))
    module = ok(driver.cuModuleLoadData(np.char.array(as_bytes).ctypes.data))
    function = ok(driver.cuModuleGetFunction(module, b"add"))
    memory = ok(driver.cuMemAlloc(128))
    ok(driver.cuMemsetD32(memory, 1, 32))
    ok(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, ((memory, 41), (None, ctypes.c_int)), 0))
    back = np.zeros(32, np.int32)
    ok(driver.cuMemcpyDtoH(back.ctypes.data, memory, 128))
    assert (back == 42).all()


@case
def graph_nodes_of_any_kind():
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuCtxSetCurrent(context))
    graph = ok(driver.cuGraphCreate(0))
    handle = ok(driver.cuGraphConditionalHandleCreate(graph, context, 1, 0))
    given = driver.CUgraphNodeParams()
    given.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    given.conditional.handle, given.conditional.ctx = handle, context
    given.conditional.type, given.conditional.size = driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF, 1
    node = ok(driver.cuGraphAddNode(graph, None, None, 0, given))
    told = ok(driver.cuGraphNodeGetParams(node))
    assert told.type == given.type and told.conditional.size == 1
    assert int(told.conditional.handle) == int(handle) and told.conditional.type == given.conditional.type
    assert int(driver.cuGraphNodeGetParams(0)[0]) != 0
    ok(driver.cuGraphDestroy(graph))


@case
def core_programs():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    for kind in ("ptx", "cubin"):
        module = Program(CODE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}")).compile(kind)
        buffer = device.allocate(128, stream=stream)
        ok(driver.cuMemsetD32(int(buffer.handle), 1, 32))
        launch(stream, LaunchConfig(grid=1, block=32), module.get_kernel("add"), buffer, np.int32(41))
        stream.sync()
        back = np.zeros(32, np.int32)
        ok(driver.cuMemcpyDtoH(back.ctypes.data, int(buffer.handle), 128))
        assert (back == 42).all(), back


finish("cuda-python", "cuda-bindings", "cuda-core")
