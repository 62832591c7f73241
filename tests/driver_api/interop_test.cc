// Sharing with other processes, and the log of errors. What processes share is tested with the runtime's functions.
#include <fstream>

#include "fixture.h"

namespace {

class Interop : public Driver {};

TEST_F(Interop, memory_and_events_get_handles) {
  CUdeviceptr ptr = allocate(1 << 20);
  CUipcMemHandle memory;
  OK(cuIpcGetMemHandle(&memory, ptr));
  EXPECT_NE(cuIpcGetMemHandle(&memory, 0x1000), CUDA_SUCCESS);
  EXPECT_NE(cuIpcCloseMemHandle(ptr), CUDA_SUCCESS) << "nothing was opened there";
  CUevent event, plain, opened;
  OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&plain, 0));
  CUipcEventHandle handle;
  OK(cuIpcGetEventHandle(&handle, event));
  EXPECT_NE(cuIpcGetEventHandle(&handle, plain), CUDA_SUCCESS);
  CUipcMemHandle rubbish{};
  EXPECT_NE(cuIpcOpenMemHandle(&ptr, rubbish, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
  CUipcEventHandle nothing{};
  EXPECT_NE(cuIpcOpenEventHandle(&opened, nothing), CUDA_SUCCESS);
}

TEST_F(Interop, the_log_can_be_asked_for) {
  CUlogIterator iterator = 0;
  OK(cuLogsCurrent(&iterator, 0));
  char text[256];
  size_t size = sizeof text;
  OK(cuLogsDumpToMemory(nullptr, text, &size, 0));
  std::string path = testing::TempDir() + "/cuda.log";
  OK(cuLogsDumpToFile(nullptr, path.c_str(), 0));
  CUlogsCallbackHandle handle;
  OK(cuLogsRegisterCallback([](void*, CUlogLevel, char*, size_t) {}, nullptr, &handle));
  OK(cuLogsUnregisterCallback(handle));
  EXPECT_NE(cuLogsUnregisterCallback(handle), CUDA_SUCCESS);
}

}  // namespace
