// <future> beside kernels: tasks of the host that launch, promises that carry results and exceptions.
#include <cstdio>
#include <future>
#include <stdexcept>
#include <vector>

__global__ void add(int* data, int by) { data[threadIdx.x] += by; }

int run(int by) {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  add<<<1, 32>>>(data, by);
  int last = 0;
  if (cudaMemcpy(&last, data + 31, sizeof last, cudaMemcpyDeviceToHost) != cudaSuccess) throw std::runtime_error("copy");
  cudaFree(data);
  return last;
}

int main() {
  int bad = 0;
  std::vector<std::future<int>> results;
  for (int k = 0; k < 8; ++k) results.push_back(std::async(k % 2 ? std::launch::async : std::launch::deferred, run, k));
  for (int k = 0; k < 8; ++k) bad += results[k].get() != k;

  std::packaged_task<int(int)> task(run);
  auto of_task = task.get_future().share();
  std::thread(std::move(task), 40).join();
  bad += of_task.get() != 40;

  std::promise<void> promise;
  auto failed = promise.get_future();
  promise.set_exception(std::make_exception_ptr(std::runtime_error("no")));
  try {
    failed.get();
    ++bad;
  } catch (const std::runtime_error& e) {
    bad += e.what() != std::string("no");
  }
  std::puts(bad ? "FAILED" : "PASSED");
  return bad != 0;
}
