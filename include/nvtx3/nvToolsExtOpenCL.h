// NVTX names for OpenCL's objects, for programs that have its headers.
#ifndef WARPBEAM_NVTOOLSEXTOPENCL_H
#define WARPBEAM_NVTOOLSEXTOPENCL_H

#include <CL/cl.h>

#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_OPENCL 6
typedef enum nvtxResourceOpenCLType_t {
  NVTX_RESOURCE_TYPE_OPENCL_DEVICE = NVTX_RESOURCE_MAKE_TYPE(OPENCL, 1),
  NVTX_RESOURCE_TYPE_OPENCL_CONTEXT = NVTX_RESOURCE_MAKE_TYPE(OPENCL, 2),
  NVTX_RESOURCE_TYPE_OPENCL_COMMANDQUEUE = NVTX_RESOURCE_MAKE_TYPE(OPENCL, 3),
  NVTX_RESOURCE_TYPE_OPENCL_MEMOBJECT = NVTX_RESOURCE_MAKE_TYPE(OPENCL, 4),
  NVTX_RESOURCE_TYPE_OPENCL_SAMPLER = NVTX_RESOURCE_MAKE_TYPE(OPENCL, 5),
  NVTX_RESOURCE_TYPE_OPENCL_PROGRAM = NVTX_RESOURCE_MAKE_TYPE(OPENCL, 6),
  NVTX_RESOURCE_TYPE_OPENCL_EVENT = NVTX_RESOURCE_MAKE_TYPE(OPENCL, 7)
} nvtxResourceOpenCLType_t;

WB_NVTX void nvtxNameClDeviceA(cl_device_id device, const char* name) { (void)device, (void)name; }
WB_NVTX void nvtxNameClDeviceW(cl_device_id device, const wchar_t* name) { (void)device, (void)name; }
WB_NVTX void nvtxNameClContextA(cl_context context, const char* name) { (void)context, (void)name; }
WB_NVTX void nvtxNameClContextW(cl_context context, const wchar_t* name) { (void)context, (void)name; }
WB_NVTX void nvtxNameClCommandQueueA(cl_command_queue queue, const char* name) { (void)queue, (void)name; }
WB_NVTX void nvtxNameClCommandQueueW(cl_command_queue queue, const wchar_t* name) { (void)queue, (void)name; }
WB_NVTX void nvtxNameClMemObjectA(cl_mem memory, const char* name) { (void)memory, (void)name; }
WB_NVTX void nvtxNameClMemObjectW(cl_mem memory, const wchar_t* name) { (void)memory, (void)name; }
WB_NVTX void nvtxNameClSamplerA(cl_sampler sampler, const char* name) { (void)sampler, (void)name; }
WB_NVTX void nvtxNameClSamplerW(cl_sampler sampler, const wchar_t* name) { (void)sampler, (void)name; }
WB_NVTX void nvtxNameClProgramA(cl_program program, const char* name) { (void)program, (void)name; }
WB_NVTX void nvtxNameClProgramW(cl_program program, const wchar_t* name) { (void)program, (void)name; }
WB_NVTX void nvtxNameClEventA(cl_event event, const char* name) { (void)event, (void)name; }
WB_NVTX void nvtxNameClEventW(cl_event event, const wchar_t* name) { (void)event, (void)name; }
#ifdef UNICODE
#define nvtxNameClDevice nvtxNameClDeviceW
#define nvtxNameClContext nvtxNameClContextW
#define nvtxNameClCommandQueue nvtxNameClCommandQueueW
#define nvtxNameClMemObject nvtxNameClMemObjectW
#define nvtxNameClSampler nvtxNameClSamplerW
#define nvtxNameClProgram nvtxNameClProgramW
#define nvtxNameClEvent nvtxNameClEventW
#else
#define nvtxNameClDevice nvtxNameClDeviceA
#define nvtxNameClContext nvtxNameClContextA
#define nvtxNameClCommandQueue nvtxNameClCommandQueueA
#define nvtxNameClMemObject nvtxNameClMemObjectA
#define nvtxNameClSampler nvtxNameClSamplerA
#define nvtxNameClProgram nvtxNameClProgramA
#define nvtxNameClEvent nvtxNameClEventA
#endif

#endif
