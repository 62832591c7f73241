// build: -lcupti
// A profiler's records by CUPTI's activity API: what ran, in which order, asked for by which call, and in which of the program's phases.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
int cuptiGetVersion(uint32_t*);
int cuptiActivityEnable(int);
int cuptiActivityDisable(int);
int cuptiActivityFlushAll(uint32_t);
int cuptiActivityRegisterCallbacks(void (*)(uint8_t**, size_t*, size_t*), void (*)(void*, uint32_t, uint8_t*, size_t, size_t));
int cuptiActivityGetNextRecord(uint8_t*, size_t, uint8_t**);
int cuptiActivityPushExternalCorrelationId(int, uint64_t);
int cuptiActivityPopExternalCorrelationId(int, uint64_t*);
}

enum { kMemcpy = 1, kMemset = 2, kRuntime = 5, kConcurrentKernel = 10, kExternal = 39 };

__global__ void twice(float* p) { p[threadIdx.x] *= 2; }

static std::vector<std::vector<uint8_t>> records;
template <class T>
static T field(const std::vector<uint8_t>& record, size_t at) {
  T value;
  memcpy(&value, &record[at], sizeof value);
  return value;
}
static int kind(const std::vector<uint8_t>& record) { return field<int>(record, 0); }

static void request(uint8_t** buffer, size_t* size, size_t* most) {
  *size = 512;  // a few records: there will be several buffers
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *size));
  *most = 0;
}

static void complete(void*, uint32_t, uint8_t* buffer, size_t, size_t used) {
  for (uint8_t* record = nullptr; cuptiActivityGetNextRecord(buffer, used, &record) == 0;)
    records.emplace_back(record, record + (buffer + used - record < 200 ? buffer + used - record : 200));
  free(buffer);
}

#define CHECK(condition) \
  if (!(condition)) return printf("FAILED, line %d: %s\n", __LINE__, #condition), 1

int main() {
  uint32_t version = 0;
  CHECK(cuptiGetVersion(&version) == 0 && version >= 12);
  float *p, host[32];
  cudaMalloc(&p, 4096);
  CHECK(cuptiActivityRegisterCallbacks(request, complete) == 0);
  twice<<<1, 32>>>(p);  // before: has no record
  cudaDeviceSynchronize();
  for (int k : {kMemcpy, kMemset, kRuntime, kConcurrentKernel, kExternal}) CHECK(cuptiActivityEnable(k) == 0);
  cudaMemset(p, 0, 4096);
  CHECK(cuptiActivityPushExternalCorrelationId(1, 42) == 0);
  for (int k = 0; k < 5; ++k) twice<<<2, 32, 16>>>(p);
  uint64_t last = 0;
  CHECK(cuptiActivityPopExternalCorrelationId(1, &last) == 0 && last == 42);
  CHECK(cuptiActivityPopExternalCorrelationId(1, &last) != 0);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  cudaDeviceSynchronize();
  CHECK(cuptiActivityFlushAll(0) == 0);

  int kernels = 0, copies = 0, fills = 0, external = 0;
  uint64_t end = 0;
  for (const auto& record : records) {
    if (kind(record) == kConcurrentKernel) {
      ++kernels;
      const uint64_t begin = field<uint64_t>(record, 16);
      CHECK(begin >= end && field<uint64_t>(record, 24) >= begin);
      end = field<uint64_t>(record, 24);
      CHECK(field<int>(record, 52) == 2 && field<int>(record, 64) == 32 && field<int>(record, 80) == 16);
      CHECK(strstr(field<const char*>(record, 104), "twice"));
      // Its call has a record, and its phase has that call.
      const uint32_t call = field<uint32_t>(record, 92);
      int calls = 0, phases = 0;
      for (const auto& other : records) {
        calls += kind(other) == kRuntime && field<uint32_t>(other, 32) == call && field<uint64_t>(other, 8) <= field<uint64_t>(other, 16);
        phases += kind(other) == kExternal && field<uint32_t>(other, 16) == call && field<uint64_t>(other, 8) == 42;
      }
      CHECK(calls == 1 && phases == 1);
    }
    if (kind(record) == kMemcpy) {
      ++copies;
      CHECK(record[4] == 2 && field<uint64_t>(record, 8) == sizeof host);  // to the host
    }
    if (kind(record) == kMemset) {
      ++fills;
      CHECK(field<uint64_t>(record, 8) == 4096);
    }
    external += kind(record) == kExternal;
  }
  CHECK(kernels == 5 && copies == 1 && fills == 1 && external == 5);

  for (int k : {kMemcpy, kMemset, kRuntime, kConcurrentKernel, kExternal}) CHECK(cuptiActivityDisable(k) == 0);
  const size_t before = records.size();
  twice<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  cuptiActivityFlushAll(0);
  CHECK(records.size() == before);
  puts("PASSED");
}
