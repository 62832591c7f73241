// Memory that is not the device's own: kernels that read pinned memory take as long as the link does; pages of managed
// memory come when they are touched, stay, come again when the host has touched them, or before if they are asked for. The host waits for
// pages that it touches, and for a kernel that writes what it looks at.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))

__global__ void add(float* to, const float* from, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = to[i] + from[i];
}

__global__ void touch(int* x, int step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[size_t(i) * step] += 1;
}

__global__ void say_when(volatile int* flag, long long ticks) {
  const long long begin = clock64();
  while (clock64() - begin < ticks) {
  }
  *flag = 1;
}

__managed__ int variable;

static double now_us() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Work>
double host_us(Work&& work) {
  const double begin = now_us();
  work();
  return now_us() - begin;
}

static cudaEvent_t begin_event, end_event;

template <class Work>
float timed(Work&& work) {
  float ms = 0;
  cudaEventRecord(begin_event);
  work();
  cudaEventRecord(end_event);
  cudaEventSynchronize(end_event);
  cudaEventElapsedTime(&ms, begin_event, end_event);
  return ms;
}

int main() {
  const int n = 4 << 20;
  const size_t bytes = n * sizeof(float);
  cudaEventCreate(&begin_event);
  cudaEventCreate(&end_event);
  float *device, *other, *pinned, *managed, *fresh;
  cudaMalloc(&device, bytes);
  cudaMalloc(&other, bytes);
  cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped);
  cudaMallocManaged(&managed, bytes);
  cudaMallocManaged(&fresh, bytes);
  cudaMemset(device, 0, bytes);
  cudaMemset(other, 0, bytes);
  for (int i = 0; i < n; ++i) pinned[i] = 1;
  const auto kernel = [&](const float* from) { return timed([&] { add<<<512, 256>>>(device, from, n); }); };
  kernel(other);
  const float own = kernel(other);
  const float copied = timed([&] { cudaMemcpyAsync(other, pinned, bytes, cudaMemcpyHostToDevice); });

  const float over_link = kernel(pinned);
  printf("own %.4f copied %.4f over the link %.4f\n", own, copied, over_link);
  EXPECT(over_link > 0.9f * copied && over_link < 3 * copied);
  EXPECT(over_link > 3 * own);

  for (int i = 0; i < n; ++i) managed[i] = 1;
  const float first = kernel(managed), second = kernel(managed);
  managed[n / 2] = 5;
  const float one_page = kernel(managed);
  for (int i = 0; i < n; ++i) managed[i] = 2;
  const float again = kernel(managed);
  for (int i = 0; i < n; ++i) managed[i] = 3;
  const float prefetched = timed([&] { cudaMemPrefetchAsync(managed, bytes, 0, nullptr); });
  const float after = kernel(managed);
  const float untouched = kernel(fresh);
  printf("managed: first %.4f second %.4f one page %.4f again %.4f prefetched %.4f then %.4f untouched %.4f\n", first, second, one_page, again, prefetched, after, untouched);
  EXPECT(first > 1.2f * copied);
  EXPECT(second < 1.5f * own);
  EXPECT(one_page < 0.5f * first);
  EXPECT(again > 0.9f * first && again < 1.1f * first);
  EXPECT(prefetched < 0.8f * first && prefetched > 0.8f * copied);
  EXPECT(after < 1.5f * own);
  EXPECT(untouched < first && untouched > own);

  // What the host reads comes to it, once, and the next kernel has to get it again; what it has not touched stays.
  volatile float sum = 0;
  const auto read = [&](float* from, int count) {
    for (int i = 0; i < count; i += 1024) sum = sum + from[i];
  };
  const double all = host_us([&] { read(managed, n); }), all_again = host_us([&] { read(managed, n); });
  const float back = kernel(managed);
  const double word = host_us([&] { sum = managed[n / 2]; });
  const float all_but_one = kernel(managed);
  printf("host reads: all %.1f us, again %.1f us, then a kernel %.4f ms; one word %.1f us, then a kernel %.4f ms\n", all, all_again, back, word, all_but_one);
  EXPECT(all > 0.5e3 * copied && all_again < 0.01 * all);
  EXPECT(back > 0.9f * first && back < 1.1f * first);
  EXPECT(word > 5 && word < 0.1 * all);
  EXPECT(all_but_one < 0.5f * first);
  const double next_to_it = host_us([&] { sum = managed[n / 2 + 1]; });
  EXPECT(next_to_it > 0.5 * word);  // the kernel has taken it back
  cudaMemPrefetchAsync(managed, bytes, cudaCpuDeviceId, nullptr);
  cudaDeviceSynchronize();
  EXPECT(host_us([&] { read(managed, n); }) < 0.01 * all);
  float* untouched_by_all;
  cudaMallocManaged(&untouched_by_all, bytes);
  const double made = host_us([&] {
    for (int i = 0; i < n; i += 1024) untouched_by_all[i] = 1;
  });
  EXPECT(made > 1 && host_us([&] { read(untouched_by_all, n); }) < 0.01 * made);
  // A copy reads for the program, which itself has touched nothing.
  kernel(managed);
  cudaMemcpy(other, managed, bytes, cudaMemcpyDefault);
  const float after_copy = kernel(managed);
  EXPECT(after_copy < 2 * own);  // no page has moved; what the copy has written leaves L2 meanwhile

  // A word by which a kernel tells the host of something is there when the kernel has written it.
  int *mapped, *managed_flag;
  cudaHostAlloc(&mapped, 64, cudaHostAllocMapped);
  cudaMallocManaged(&managed_flag, 64);
  int khz = 0;
  cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
  for (int* flag : {mapped, managed_flag}) {
    *flag = 0;
    const double seen = host_us([&] {
      say_when<<<1, 1>>>(flag, khz);  // a millisecond
      while (!*static_cast<volatile int*>(flag)) {
      }
    });
    printf("flag seen after %.1f us\n", seen);
    EXPECT(seen > 900 && seen < 1200);
    cudaDeviceSynchronize();
  }

  // Memory that comes again, less than a page of it.
  for (int i = 0; i < 8; ++i) {
    int* word;
    cudaMallocManaged(&word, 256);
    *word = i;
    EXPECT(cudaFree(word) == cudaSuccess);
  }

  // Where the host is to keep them nothing moves: each kernel goes over the link.
  for (int i = 0; i < n; ++i) fresh[i] = 1;
#if CUDART_VERSION >= 13000
  cudaMemAdvise(fresh, bytes, cudaMemAdviseSetPreferredLocation, cudaMemLocation{cudaMemLocationTypeHost, 0});
#else
  cudaMemAdvise(fresh, bytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
#endif
  const float mapping = kernel(fresh), far = kernel(fresh), still_far = kernel(fresh);
  EXPECT(mapping > far);  // the first one waits until the pages are mapped
  EXPECT(far > 3 * own && still_far > 0.9f * far && still_far < 1.1f * far);

  // Words here and there: one fault for each block of 2 MiB, of which little comes. A block of which more than half is wanted comes whole.
  const auto strided = [&](int step) {
    int* words;
    const int count = n / step;
    cudaMallocManaged(&words, bytes);
    for (int i = 0; i < n; ++i) words[i] = 0;
    const float took = timed([&] { touch<<<(count + 31) / 32, 32>>>(words, step, count); });
    const float again = timed([&] { touch<<<(count + 31) / 32, 32>>>(words, step, count); });
    volatile int* look = words;
    const double host = host_us([&] {
      for (int i = 0; i < n; i += step) sum = sum + look[i];
    });
    printf("each %d-th word: %.4f ms, again %.4f, then the host %.1f us\n", step, took, again, host);
    EXPECT(again < 0.2f * took);
    cudaFree(words);
    return took;
  };
  const float by_blocks = strided(512 << 10), by_pages = strided(16 << 10);
  EXPECT(by_blocks < 0.5f * by_pages && by_pages < first);

  // A word that both sides want in turn: after a few rounds they wait for each other, and then it stays with the host.
  int* shared_word;
  cudaMallocManaged(&shared_word, 4096);
  *shared_word = 0;
  std::vector<double> rounds;
  for (int i = 0; i < 40; ++i) rounds.push_back(host_us([&] {
    touch<<<1, 1>>>(shared_word, 1, 1);
    cudaDeviceSynchronize();
    ++*static_cast<volatile int*>(shared_word);
  }));
  EXPECT(*shared_word == 80);
  const double longest = *std::max_element(rounds.begin(), rounds.end());
  printf("rounds: second %.1f us, longest %.1f us, last %.1f us\n", rounds[1], longest, rounds.back());
  EXPECT(longest > 2.5 * rounds[1] && rounds.back() < 0.5 * rounds[1]);

  // Small allocations share a page, which comes as a whole; the first kernel that wants a variable waits for it.
  int *one, *beside;
  cudaMallocManaged(&one, 256);
  cudaMallocManaged(&beside, 256);
  *one = *beside = 0;
  touch<<<1, 1>>>(one, 1, 1);
  touch<<<1, 1>>>(beside, 1, 1);
  cudaDeviceSynchronize();
  volatile int seen = 0;
  const double looks = host_us([&] { seen = *one; }), looks_beside = host_us([&] { seen = *beside; });
  EXPECT(looks > 5 && looks_beside < 1 && *one + *beside == 2);
  variable = 41;
  const auto count = [&] { return host_us([] { touch<<<1, 1>>>(&variable, 1, 1), cudaDeviceSynchronize(); }); };
  const double variable_comes = count();
  EXPECT(variable == 42);
  cudaDeviceSynchronize();  // by now the host has looked
  const double others = host_us([&] { touch<<<1, 1>>>(reinterpret_cast<int*>(device), 1, 1), cudaDeviceSynchronize(); });
  printf("a page of two: %.1f us, %.1f us; a variable: %.1f us, else %.1f us\n", looks, looks_beside, variable_comes, others);
  EXPECT(variable_comes > 2 * others);

  // A prefetch is the stream's work, not the call's.
  const auto prefetch = [&](float* what, bool back) {
    return host_us([&] { cudaMemPrefetchAsync(what, bytes, back ? cudaCpuDeviceId : 0, nullptr); });
  };
  const double call = prefetch(managed, true), waited = host_us([] { cudaDeviceSynchronize(); });
  EXPECT(call < 0.1 * waited);
  // Memory that a fill writes to comes to the device.
  for (int i = 0; i < n; ++i) managed[i] = 4;
  cudaMemset(managed, 0, bytes);
  EXPECT(kernel(managed) < 1.5f * own);
  puts(failed ? "FAILED" : "ok");
  return failed;
}
