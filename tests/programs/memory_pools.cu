// Memory pools: how much they hold, what they refuse, who sees their memory, and pools shared between processes.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) EXPECT(call, cudaSuccess)
#define EXPECT(call, wanted)                                                                       \
  do {                                                                                             \
    cudaError_t status_ = (call);                                                                  \
    if (status_ != (wanted)) {                                                                     \
      printf("[%d] line %d: %s gave %s\n", getpid(), __LINE__, #call, cudaGetErrorName(status_));  \
      exit(1);                                                                                     \
    }                                                                                              \
    cudaGetLastError();                                                                            \
  } while (0)
#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      printf("[%d] line %d: not so: %s\n", getpid(), __LINE__, #condition);   \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

constexpr size_t kMiB = 1 << 20;

__global__ void fill(int* p, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value + i;
}
__global__ void add(int* p, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += value;
}

cudaMemPool_t make_pool(size_t most = 0, int device = 0, cudaMemAllocationHandleType handles = cudaMemHandleTypeNone) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = handles;
  properties.location = {cudaMemLocationTypeDevice, device};
  properties.maxSize = most;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  return pool;
}

uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  uint64_t value = ~0ull;
  CHECK(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

void sizes() {
  cudaStream_t stream, other;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  cudaMemPool_t pool = make_pool(64 * kMiB);
  void *a, *b, *c;
  CHECK(cudaMallocFromPoolAsync(&a, 40 * kMiB, pool, stream));
  EXPECT(cudaMallocFromPoolAsync(&b, 40 * kMiB, pool, stream), cudaErrorMemoryAllocation);
  CHECK(cudaMallocFromPoolAsync(&b, 24 * kMiB, pool, stream));
  EXPECT(cudaMallocFromPoolAsync(&c, 1, pool, stream), cudaErrorMemoryAllocation);
  EXPECT(cudaMallocFromPoolAsync(&c, 65 * kMiB, pool, stream), cudaErrorMemoryAllocation);
  // A pool's size is a number of whole steps.
  EXPECT(cudaMallocFromPoolAsync(&c, 33 * kMiB, make_pool(4 * kMiB), stream), cudaErrorMemoryAllocation);
  CHECK(cudaMallocFromPoolAsync(&c, 8 * kMiB, make_pool(4 * kMiB), stream));
  // What is freed in stream order can be had again without waiting.
  CHECK(cudaFreeAsync(a, stream));
  CHECK(cudaMallocFromPoolAsync(&c, 40 * kMiB, pool, stream));
  EXPECT(cudaFreeAsync(a, stream), cudaErrorInvalidValue);  // a second time
  EXPECT(cudaFree(a), cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(b, other));
  CHECK(cudaFree(c));
  CHECK(cudaDeviceSynchronize());
  EXPECT(cudaFreeAsync(c, stream), cudaErrorInvalidValue);
  REQUIRE(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  REQUIRE(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
  for (int i = 0; i < 10; ++i) {
    CHECK(cudaMallocFromPoolAsync(&a, 40 * kMiB, pool, stream));
    CHECK(cudaFreeAsync(a, stream));
  }
  REQUIRE(attribute(pool, cudaMemPoolAttrUsedMemHigh) <= 64 * kMiB);

  uint64_t threshold = ~0ull;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK(cudaMallocFromPoolAsync(&a, 48 * kMiB, pool, stream));
  REQUIRE(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 48 * kMiB);
  CHECK(cudaFreeAsync(a, stream));
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  REQUIRE(attribute(pool, cudaMemPoolAttrReservedMemCurrent) >= 48 * kMiB);  // kept for the next
  CHECK(cudaMemPoolTrimTo(pool, 0));
  REQUIRE(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
  REQUIRE(attribute(pool, cudaMemPoolAttrReservedMemHigh) >= 48 * kMiB);
  uint64_t zero = 0, one = 1;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one), cudaErrorInvalidValue);
  EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);

  // A pool that is destroyed gives nothing more; what it gave stays good.
  CHECK(cudaMallocFromPoolAsync(&a, kMiB, pool, stream));
  CHECK(cudaMemPoolDestroy(pool));
  EXPECT(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
  EXPECT(cudaMallocFromPoolAsync(&b, kMiB, pool, stream), cudaErrorInvalidValue);
  CHECK(cudaMemsetAsync(a, 1, kMiB, stream));
  CHECK(cudaFreeAsync(a, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(other));
  EXPECT(cudaFreeAsync(a, other), cudaErrorInvalidResourceHandle);
  EXPECT(cudaMallocAsync(&a, kMiB, other), cudaErrorInvalidResourceHandle);

  // Ten times more than is free, never more than six tenths of it at once.
  size_t free_bytes, total;
  CHECK(cudaMemGetInfo(&free_bytes, &total));
  for (int i = 0; i < 20; ++i) {
    CHECK(cudaMallocAsync(&a, free_bytes / 10 * 6, stream));
    CHECK(cudaMemsetAsync(a, i, 4096, stream));
    CHECK(cudaFreeAsync(a, stream));
  }
  CHECK(cudaMallocAsync(&a, free_bytes / 10 * 6, stream));
  EXPECT(cudaMallocAsync(&b, free_bytes / 10 * 6, stream), cudaErrorMemoryAllocation);
  CHECK(cudaFreeAsync(a, stream));
  CHECK(cudaStreamDestroy(stream));
}

void places() {
  cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0}, node{cudaMemLocationTypeHostNuma, 0},
      wrong{cudaMemLocationTypeHostNumaCurrent, 0}, none{cudaMemLocationTypeNone, 0};
  cudaMemPool_t standard, pool, now, own = make_pool();
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
  CHECK(cudaMemGetDefaultMemPool(&pool, &device, cudaMemAllocationTypePinned));
  REQUIRE(pool == standard);
  EXPECT(cudaMemPoolDestroy(standard), cudaErrorInvalidValue);
  CHECK(cudaMemSetMemPool(&device, cudaMemAllocationTypePinned, own));
  CHECK(cudaMemGetMemPool(&now, &device, cudaMemAllocationTypePinned));
  REQUIRE(now == own);
  CHECK(cudaDeviceGetMemPool(&now, 0));
  REQUIRE(now == own);
  EXPECT(cudaDeviceSetMemPool(1, own), cudaErrorInvalidValue);  // another device's
  EXPECT(cudaMemSetMemPool(&host, cudaMemAllocationTypePinned, own), cudaErrorInvalidValue);
  CHECK(cudaMemPoolDestroy(own));
  CHECK(cudaDeviceGetMemPool(&now, 0));
  REQUIRE(now == standard);
  EXPECT(cudaMemGetDefaultMemPool(&pool, &wrong, cudaMemAllocationTypePinned), cudaErrorInvalidValue);
  EXPECT(cudaMemGetDefaultMemPool(&pool, &none, cudaMemAllocationTypePinned), cudaErrorInvalidValue);
  EXPECT(cudaMemGetDefaultMemPool(nullptr, &device, cudaMemAllocationTypePinned), cudaErrorInvalidValue);

  // Memory of the host and managed memory: both sides touch it.
  for (int kind = 0; kind < 3; ++kind) {
    cudaMemLocation& where = kind == 0 ? host : kind == 1 ? node : none;
    CHECK(cudaMemGetDefaultMemPool(&pool, &where, kind == 2 ? cudaMemAllocationTypeManaged : cudaMemAllocationTypePinned));
    int* p;
    CHECK(cudaMallocFromPoolAsync((void**)&p, 1000 * sizeof(int), pool, 0));
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < 1000; ++i) p[i] = i;
    add<<<4, 256>>>(p, 7, 1000);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 1000; ++i) REQUIRE(p[i] == i + 7);
    cudaPointerAttributes facts;
    CHECK(cudaPointerGetAttributes(&facts, p));
    REQUIRE(facts.type == (kind == 2 ? cudaMemoryTypeManaged : cudaMemoryTypeHost));
    if (kind < 2) EXPECT(cudaFreeHost(p), cudaErrorInvalidValue);  // not where it came from
    REQUIRE(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 1000 * sizeof(int));
    CHECK(cudaFreeAsync(p, 0));
    CHECK(cudaStreamSynchronize(0));
    REQUIRE(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  }
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location = host;
  EXPECT(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidValue);  // such pools cannot be shared
  properties.location = {cudaMemLocationTypeDevice, 9};
  EXPECT(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidDevice);
}

// Peers are let in pool by pool; that says nothing of other memory.
void access() {
  cudaMemPool_t open = make_pool(), closed = make_pool();
  int *seen, *unseen, *plain;
  CHECK(cudaSetDevice(0));
  CHECK(cudaMallocFromPoolAsync((void**)&seen, 4096, open, 0));
  CHECK(cudaMallocFromPoolAsync((void**)&unseen, 4096, closed, 0));
  CHECK(cudaMalloc(&plain, 4096));
  CHECK(cudaMemset(seen, 0, 4096));
  cudaMemAccessDesc wish{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  cudaMemAccessFlags flags;
  CHECK(cudaMemPoolGetAccess(&flags, open, &wish.location));
  REQUIRE(flags == cudaMemAccessFlagsProtNone);
  CHECK(cudaMemPoolSetAccess(open, &wish, 1));
  CHECK(cudaMemPoolGetAccess(&flags, open, &wish.location));
  REQUIRE(flags == cudaMemAccessFlagsProtReadWrite);
  CHECK(cudaMemPoolGetAccess(&flags, closed, &wish.location));
  REQUIRE(flags == cudaMemAccessFlagsProtNone);
  wish.location.id = 0;
  wish.flags = cudaMemAccessFlagsProtNone;
  EXPECT(cudaMemPoolSetAccess(open, &wish, 1), cudaErrorInvalidDevice);  // its own device
  wish.location.id = 5;
  EXPECT(cudaMemPoolSetAccess(open, &wish, 1), cudaErrorInvalidDevice);

  CHECK(cudaSetDevice(1));
  add<<<1, 64>>>(seen, 3, 64);
  CHECK(cudaDeviceSynchronize());
  int first;
  CHECK(cudaMemcpy(&first, seen, sizeof first, cudaMemcpyDeviceToHost));
  REQUIRE(first == 3);
  add<<<1, 64>>>(unseen, 3, 64);
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  add<<<1, 64>>>(plain, 3, 64);
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  add<<<1, 64>>>(plain, 3, 64);
  CHECK(cudaDeviceSynchronize());
  wish = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtNone};
  CHECK(cudaMemPoolSetAccess(open, &wish, 1));
  add<<<1, 64>>>(seen, 3, 64);
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  CHECK(cudaSetDevice(0));
  CHECK(cudaFreeAsync(seen, 0));
  CHECK(cudaFreeAsync(unseen, 0));
  CHECK(cudaFree(plain));
}

constexpr int kN = 5000;
struct Message {
  cudaMemPoolPtrExportData pointer, foreign;
};

bool send(int to, int file, const Message& message) {
  iovec part{(void*)&message, sizeof message};
  char control[CMSG_SPACE(sizeof file)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* c = CMSG_FIRSTHDR(&header);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(c), &file, sizeof file);
  return sendmsg(to, &header, 0) == sizeof message;
}

int receive(int from, Message* message) {
  iovec part{message, sizeof *message};
  int file = -1;
  char control[CMSG_SPACE(sizeof file)];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (recvmsg(from, &header, 0) != sizeof *message) return -1;
  memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof file);
  return file;
}

int child(int socket) {
  Message message;
  int file = receive(socket, &message);
  REQUIRE(file >= 0);
  cudaMemPool_t pool;
  EXPECT(cudaMemPoolImportFromShareableHandle(&pool, (void*)0L, cudaMemHandleTypePosixFileDescriptor, 0), cudaErrorInvalidValue);
  CHECK(cudaMemPoolImportFromShareableHandle(&pool, (void*)(long)file, cudaMemHandleTypePosixFileDescriptor, 0));
  close(file);
  void* own;
  EXPECT(cudaMallocFromPoolAsync(&own, 100, pool, 0), cudaErrorInvalidValue);  // imported pools give nothing
  EXPECT(cudaDeviceSetMemPool(0, pool), cudaErrorInvalidValue);
  int* p;
  EXPECT(cudaMemPoolImportPointer((void**)&p, pool, &message.foreign), cudaErrorInvalidValue);  // another pool's
  CHECK(cudaMemPoolImportPointer((void**)&p, pool, &message.pointer));
  add<<<(kN + 255) / 256, 256>>>(p, 1000, kN);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFreeAsync(p, 0));
  CHECK(cudaStreamSynchronize(0));
  EXPECT(cudaFree(p), cudaErrorInvalidValue);
  CHECK(cudaMemPoolDestroy(pool));
  char done = 1;
  return write(socket, &done, 1) == 1 ? 0 : 1;
}

void parent(int socket) {
  cudaMemPool_t pool = make_pool(0, 0, cudaMemHandleTypePosixFileDescriptor), second = make_pool(0, 0, cudaMemHandleTypePosixFileDescriptor),
                closed = make_pool();
  int *p, *q, *alone, file = -1, ignored;
  CHECK(cudaMallocFromPoolAsync((void**)&p, kN * sizeof(int), pool, 0));
  CHECK(cudaMallocFromPoolAsync((void**)&q, kN * sizeof(int), second, 0));
  CHECK(cudaMallocFromPoolAsync((void**)&alone, 64, closed, 0));
  fill<<<(kN + 255) / 256, 256>>>(p, 5, kN);
  CHECK(cudaDeviceSynchronize());
  Message message;
  EXPECT(cudaMemPoolExportToShareableHandle(&ignored, closed, cudaMemHandleTypePosixFileDescriptor, 0), cudaErrorInvalidValue);
  EXPECT(cudaMemPoolExportPointer(&message.pointer, alone), cudaErrorInvalidValue);
  CHECK(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  CHECK(cudaMemPoolExportPointer(&message.pointer, p));
  CHECK(cudaMemPoolExportPointer(&message.foreign, q));
  REQUIRE(send(socket, file, message));
  close(file);
  char done = 0;
  REQUIRE(read(socket, &done, 1) == 1);
  static int copy[kN];
  CHECK(cudaMemcpy(copy, p, sizeof copy, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; i++) REQUIRE(copy[i] == 5 + i + 1000);
  CHECK(cudaMemset(p, 0, sizeof copy));
  CHECK(cudaFreeAsync(p, 0));
  CHECK(cudaFree(q));
  CHECK(cudaDeviceSynchronize());
}

int main() {
  setenv("WARPBEAM_DEVICES", "2", 1);
  // The child starts before the runtime is used: what a device holds does not survive a fork.
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  pid_t pid = fork();
  if (pid == 0) return child(ends[0]);
  parent(ends[1]);
  int status = 1;
  waitpid(pid, &status, 0);
  REQUIRE(status == 0);
  sizes();
  places();
  access();
  printf("PASSED\n");
}
