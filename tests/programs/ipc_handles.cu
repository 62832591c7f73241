// Handles of another process's memory and events that are forged or stale are errors, and never a file of somebody else's.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t status_ = (call);                                                            \
    if (status_ != cudaSuccess) {                                                            \
      printf("[%d] %s:%d: %s\n", getpid(), __FILE__, __LINE__, cudaGetErrorString(status_)); \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

constexpr size_t kBytes = 100000;

struct Message {
  cudaIpcMemHandle_t memory, freed;
  cudaIpcEventHandle_t event;
  int file;  // of the child's, which it has open for writing
};

int child(int from, int to) {
  char path[] = "/tmp/ipc_handles.XXXXXX";
  Message m;
  m.file = mkstemp(path);
  unlink(path);
  if (m.file < 0 || ftruncate(m.file, 16 * kBytes) != 0) return 1;
  void *p, *q;
  cudaEvent_t e;
  CHECK(cudaMalloc(&p, kBytes));
  CHECK(cudaMalloc(&q, kBytes));
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventInterprocess));
  CHECK(cudaIpcGetMemHandle(&m.memory, p));
  CHECK(cudaIpcGetMemHandle(&m.freed, q));
  CHECK(cudaIpcGetEventHandle(&m.event, e));
  CHECK(cudaFree(q));
  char ready;
  return write(to, &m, sizeof m) == sizeof m && read(from, &ready, 1) == 1 ? 0 : 1;
}

int failures = 0;
void refused(const char* what, cudaError_t status) {
  if (status != cudaSuccess && cudaGetLastError() == status) return;
  printf("%s: %s\n", what, cudaGetErrorString(status));
  ++failures;
}

template <class Handle, class Open>
void forge(const char* what, const Handle& good, int file, Open open) {
  // Every word of it, as it may be changed by chance, and the numbers of the file replaced by those of another.
  for (size_t at = 0; at + 4 <= 48; at += 4)
    for (int to : {file, 0, -1, 0x7fffffff}) {
      Handle forged = good;
      if (memcmp(forged.reserved + at, &to, sizeof to) == 0) continue;
      memcpy(forged.reserved + at, &to, sizeof to);
      char text[80];
      snprintf(text, sizeof text, "%s with %d at byte %zu", what, to, at);
      refused(text, open(forged));
    }
}

int main() {
  int down[2], up[2];
  if (pipe(down) || pipe(up)) return 1;
  const pid_t pid = fork();
  if (pid == 0) return child(down[0], up[1]);
  Message m;
  if (read(up[0], &m, sizeof m) != sizeof m) return 1;
  void* p;
  cudaEvent_t e;
  const auto open_memory = [&](const cudaIpcMemHandle_t& h) { return cudaIpcOpenMemHandle(&p, h, cudaIpcMemLazyEnablePeerAccess); };
  const auto open_event = [&](const cudaIpcEventHandle_t& h) { return cudaIpcOpenEventHandle(&e, h); };
  forge("memory", m.memory, m.file, open_memory);
  forge("an event", m.event, m.file, open_event);
  refused("freed memory", open_memory(m.freed));
  cudaIpcMemHandle_t other;  // what is a handle of an event is none of memory
  memcpy(&other, &m.event, sizeof other);
  refused("an event as memory", open_memory(other));
  CHECK(open_memory(m.memory));
  CHECK(cudaMemset(p, 1, kBytes));
  CHECK(cudaIpcCloseMemHandle(p));
  CHECK(open_event(m.event));
  CHECK(cudaEventDestroy(e));
  int status = 1;
  const char ready = 1;
  if (write(down[1], &ready, 1) != 1 || waitpid(pid, &status, 0) != pid || status != 0) return 1;
  refused("memory of a process that has ended", open_memory(m.memory));
  refused("an event of a process that has ended", open_event(m.event));
  printf("%s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
