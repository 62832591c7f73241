// build: --default-stream per-thread
// Host threads that share a device without waiting for each other: with --default-stream per-thread the launches and
// copies of a thread that name no stream go to a stream of its own. What to see: four threads use nothing but the default
// stream, and a thread that waits for its stream does not wait for the one whose work is held back on purpose. Without the
// option all five share one stream: the work is let go after some seconds then, for on a GPU as here they would wait for ever.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

__global__ void collatz(int from, int n, int* steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count = 0;
  for (long long x = from + i + 1; x != 1; ++count) x = x % 2 ? 3 * x + 1 : x / 2;
  steps[i] = count;
}

int collatz_steps(long long x) {
  int count = 0;
  for (; x != 1; ++count) x = x % 2 ? 3 * x + 1 : x / 2;
  return count;
}

constexpr int kPart = 2000;

int work(int from) {  // the number of wrong answers
  int* device;
  std::vector<int> host(kPart);
  cudaMallocAsync(&device, kPart * sizeof(int), 0);  // cudaMalloc and cudaFree may wait for the whole device
  collatz<<<(kPart + 127) / 128, 128>>>(from, kPart, device);
  cudaMemcpy(host.data(), device, kPart * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFreeAsync(device, 0);
  int wrong = 0;
  for (int i = 0; i < kPart; ++i) wrong += host[i] != collatz_steps(from + i + 1);
  return wrong;
}

void hold_back(void* open) {
  for (int ms = 0; ms < 10000 && !*(std::atomic<bool>*)open; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int main() {
  std::atomic<int> wrong{0}, finished{0};
  std::atomic<bool> open{false};
  // This thread's default stream is held back until `open`.
  cudaLaunchHostFunc(0, hold_back, &open);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      wrong += work(t * kPart);
      ++finished;
    });
  for (std::thread& t : threads) t.join();
  const bool held = cudaStreamQuery(0) == cudaErrorNotReady;
  open = true;
  const bool good = cudaStreamSynchronize(0) == cudaSuccess && held && wrong == 0 && finished == 4;
  std::printf("%d threads were done while this one's stream was %s, %d wrong\n%s\n", finished.load(), held ? "still held back" : "free", wrong.load(),
              good ? "PASS" : "FAIL");
  return !good;
}
