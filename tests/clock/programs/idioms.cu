// How programs time themselves: events, host timers around a synchronisation, copies of either kind, polling, sleeping.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_wtime steady
#endif

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))

__global__ void scale(float* x, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int k = 0; k < rounds; ++k) v = v * 1.000001f + 0.5f;
  x[i] = v;
}

static double seconds() {
  timeval t;
  gettimeofday(&t, nullptr);
  return t.tv_sec + t.tv_usec * 1e-6;
}

static double steady() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // ftime

int main() {
  const int n = 1 << 20;
  const size_t bytes = n * sizeof(float);
  float *device, *pinned;
  std::vector<float> pageable(n, 1.0f);
  cudaMalloc(&device, bytes);
  cudaMallocHost(&pinned, bytes);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  const auto events = [&](auto&& work) {
    float ms = -1;
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    EXPECT(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess);
    return ms * 1e-3;
  };
  const auto host = [&](auto&& work) {
    const double from = seconds();
    work();
    cudaDeviceSynchronize();
    return seconds() - from;
  };

  // The first launch of a kernel is slower by far.
  const double first = events([&] { scale<<<n / 256, 256>>>(device, n, 1); });

  // A kernel: more work takes longer; the host sees what events see, and the launch.
  const double few = events([&] { scale<<<n / 256, 256>>>(device, n, 1); });
  const double many = events([&] { scale<<<n / 256, 256>>>(device, n, 1500); });
  const double seen = host([&] { scale<<<n / 256, 256>>>(device, n, 1500); });
  EXPECT(few > 0 && first > 2 * few);
  EXPECT(many > 1.5 * few);
  EXPECT(seen > 0.8 * many && seen < 2 * many + 1e-4);

  // A launch returns before the kernel is done.
  double from = steady();
  for (int k = 0; k < 20; ++k) scale<<<n / 256, 256>>>(device, n, 1500);
  const double asked = steady() - from;
  EXPECT(cudaStreamQuery(0) == cudaErrorNotReady);
  cudaDeviceSynchronize();
  EXPECT(cudaStreamQuery(0) == cudaSuccess);
  const double done = steady() - from;
  EXPECT(asked < 0.5 * done);
  EXPECT(done > 15 * many);

  // Copies.
  const auto rate = [&](void* to, const void* what, cudaMemcpyKind kind) {
    return bytes / host([&] { cudaMemcpy(to, what, bytes, kind); }) * 1e-9;
  };
  const double pinned_rate = rate(device, pinned, cudaMemcpyHostToDevice), pageable_rate = rate(device, pageable.data(), cudaMemcpyHostToDevice);
  const double back = rate(pinned, device, cudaMemcpyDeviceToHost);
  EXPECT(pinned_rate > 1.2 * pageable_rate);
  EXPECT(back > 1 && pinned_rate < 200);
  const double on_device = bytes / events([&] { cudaMemcpy(device, device + n / 2, bytes / 2, cudaMemcpyDeviceToDevice); }) * 1e-9;
  EXPECT(on_device > pinned_rate);

  // The host does something while the device works (asyncAPI).
  unsigned long polls = 0;
  cudaEventRecord(begin);
  cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice);
  scale<<<n / 256, 256>>>(device, n, 1500);
  cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost);
  cudaEventRecord(end);
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  float ms = 0;
  EXPECT(cudaEventElapsedTime(&ms, begin, end) == cudaErrorNotReady);
  while (cudaEventQuery(end) == cudaErrorNotReady) ++polls;
  EXPECT(polls > 10);
  cudaEventElapsedTime(&ms, begin, end);
  EXPECT(ms > 0);

  // Sleeping is seen on every clock. All real clocks agree.
  timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  const double wall = seconds(), fine = steady(), omp = omp_get_wtime();
  const time_t coarse = time(nullptr);
  // Also by the ways around the name.
  timespec direct, looked_up;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &direct);
  const auto by_name = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_DEFAULT, "clock_gettime"));
  by_name(CLOCK_MONOTONIC, &looked_up);
  EXPECT(std::abs(direct.tv_sec - a.tv_sec) <= 1 && std::abs(looked_up.tv_sec - a.tv_sec) <= 1);
  EXPECT(dlsym(RTLD_DEFAULT, "strlen") != nullptr && dlsym(RTLD_DEFAULT, "there is no such function") == nullptr);
  timespec c11;
  timeb old;
  timespec_get(&c11, TIME_UTC);
  ftime(&old);
  const clock_t ticks = times(nullptr);
  const auto system = std::chrono::system_clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(20));
  timespec nap{5, 0};
  nanosleep(&nap, nullptr);
  clock_gettime(CLOCK_MONOTONIC, &b);
  const double slept = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) * 1e-9;
  EXPECT(slept > 24.99 && slept < 26);
  EXPECT(seconds() - wall > 24.9 && seconds() - wall < 26);
  EXPECT(steady() - fine > 24.9 && steady() - fine < 26);
  EXPECT(omp_get_wtime() - omp > 24.9 && omp_get_wtime() - omp < 26);
  EXPECT(time(nullptr) - coarse >= 24 && time(nullptr) - coarse <= 27);
  timespec c11_after;
  timeb old_after;
  timespec_get(&c11_after, TIME_UTC);
  ftime(&old_after);
  EXPECT(c11_after.tv_sec - c11.tv_sec >= 24 && c11_after.tv_sec - c11.tv_sec <= 27);
  EXPECT(old_after.time - old.time >= 24 && old_after.time - old.time <= 27);
  EXPECT(times(nullptr) - ticks >= 24 * sysconf(_SC_CLK_TCK) && times(nullptr) - ticks <= 27 * sysconf(_SC_CLK_TCK));
  const double by_system = std::chrono::duration<double>(std::chrono::system_clock::now() - system).count();
  EXPECT(by_system > 24.9 && by_system < 26);

  // Waiting in vain until a moment sleeps too.
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  from = steady();
  EXPECT(!never.wait_for(lock, std::chrono::milliseconds(200), [] { return false; }));
  EXPECT(steady() - from >= 0.2 && steady() - from < 1);

  printf("kernel %.6f %.6f host %.6f launches %.6f of %.6f\n", few, many, seen, asked, done);
  printf("GB/s pinned %.3f pageable %.3f back %.3f on device %.1f; polls %lu, %.6f ms\n", pinned_rate, pageable_rate, back, on_device, polls, ms);
  puts(failed ? "FAILED" : "ok");
  return failed;
}
