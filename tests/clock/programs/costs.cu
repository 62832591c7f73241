// What calls cost beside an H100: the first of a kind more than the next, pools what they have to get and give back, and who is waited for has its time.
#include <cuda_runtime.h>
#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

static int failed = 0;
#define EXPECT(what) ((what) ? void() : (void)(failed = 1, printf("FAILED line %d: %s\n", __LINE__, #what)))

__global__ void touch(float* x) { x[threadIdx.x] = 1; }
__global__ void walk(float* x, int steps) {
  float v = x[threadIdx.x];
  for (int k = 0; k < steps; ++k) v = v * 0.999f + 0.5f;
  x[threadIdx.x] = v;
}
__global__ void wait_for(volatile int* flag) {
  while (!*flag) {}
}

static double now_us() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Work>
double host_us(Work&& work) {
  const double begin = now_us();
  work();
  return now_us() - begin;
}

int main() {
  int count = 0;
  const double driver = host_us([&] { cudaGetDeviceCount(&count); }), again = host_us([&] { cudaGetDeviceCount(&count); });
  const double context = host_us([] { cudaFree(nullptr); });
  EXPECT(driver > 10'000 && again < 1 && context > 10'000);

  const size_t bytes = 4 << 20;
  float *a, *b, *managed, *untouched;
  const double first = host_us([&] { cudaMalloc(&a, bytes); }), second = host_us([&] { cudaMalloc(&b, bytes); });
  EXPECT(first > 1.5 * second);
  cudaMallocManaged(&managed, bytes);
  cudaMallocManaged(&untouched, bytes);
  touch<<<1, 256>>>(managed);
  cudaDeviceSynchronize();
  const double used = host_us([&] { cudaFree(managed); }), unused = host_us([&] { cudaFree(untouched); });
  EXPECT(used > 3 * unused);

  cudaStream_t stream;
  const double first_stream = host_us([&] { cudaStreamCreate(&stream); });
  cudaStream_t other;
  const double second_stream = host_us([&] { cudaStreamCreate(&other); }), third_stream = host_us([&] { cudaStreamCreate(&other); });
  EXPECT(first_stream > 2 * third_stream && second_stream > 5 * first_stream);
  double later[4];
  for (double& each : later) each = host_us([&] { cudaStreamCreate(&other); });
  EXPECT(later[0] < 2 * third_stream && later[1] < 2 * third_stream && later[2] > 5 * third_stream);  // what is made for four of them
  // Of an idle stream the device does not hear that an event without a time is recorded.
  cudaEvent_t untimed, timed;
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaEventCreate(&timed);
  cudaEventRecord(timed, stream), cudaStreamSynchronize(stream);
  const auto recorded = [&](cudaEvent_t e) { return host_us([&] { cudaEventRecord(e, stream), cudaEventSynchronize(e); }); };
  EXPECT(recorded(timed) > 3 * recorded(untimed));

  // What was freed last is at hand, and so is what was allocated last.
  float *kept, *same, *p;
  const auto take = [&](float** p) { return host_us([&] { cudaMalloc(p, 3 << 20); }); };
  const auto give = [&](float* p) { return host_us([&] { cudaFree(p); }); };
  take(&kept), take(&same), give(same);
  const double taken_again = take(&same), given_again = give(same), taken_new = (take(&same), take(&p)), given_old = give(kept);
  EXPECT(taken_again < 0.9 * taken_new && given_again < 0.9 * given_old);
  give(p), give(same);
  // What it does after much work of its own the host finds slower (its sleep counts as such).
  for (int k = 0; k < 8; ++k) take(&p), give(p);
  const double warm = take(&p);
  give(p);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT(take(&p) > 1.5 * warm);
  give(p);

  // Pools grow by 32 MiB, and give back when the host waits.
  float* q;
  const auto allocate = [&](float** pointer) { return host_us([&] { cudaMallocAsync(pointer, bytes, stream); }); };
  const auto wait = [&] { return host_us([&] { cudaStreamSynchronize(stream); }); };
  allocate(&p);
  const double beside = allocate(&q);
  EXPECT(beside < 5);
  cudaFreeAsync(p, stream);
  const double part = wait();
  cudaFreeAsync(q, stream);
  const double rest = wait(), nothing = wait();
  EXPECT(rest > 10 * part && nothing < part + 1);
  const double grows = allocate(&p);
  EXPECT(grows > 10 * beside);
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  unsigned long long keep = ~0ull;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  cudaFreeAsync(p, stream);
  wait();
  const double after_wait = allocate(&p);
  cudaFreeAsync(p, stream);
  const double at_once = allocate(&p);
  EXPECT(after_wait > 2 * at_once && after_wait < 0.5 * grows);
  // What is freed and allocated again before the host waits is one piece, however often.
  for (int k = 0; k < 5; ++k) cudaFreeAsync(p, stream), cudaMallocAsync(&p, bytes, stream);
  cudaFreeAsync(p, stream);
  wait();
  EXPECT(allocate(&p) > 2 * at_once);
  cudaFreeAsync(p, stream);
  EXPECT(allocate(&p) < 1.5 * at_once);
  cudaFreeAsync(p, stream);
  wait();
  const double trimmed = host_us([&] { cudaMemPoolTrimTo(pool, 0); });
  EXPECT(trimmed > 10 * host_us([&] { cudaMemPoolTrimTo(pool, 0); }));

  // A pool of the program's own gives back what the device's keeps.
  cudaMemPoolProps of_own{};
  of_own.allocType = cudaMemAllocationTypePinned, of_own.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t own;
  cudaMemPoolCreate(&own, &of_own);
  cudaMallocFromPoolAsync(&p, bytes, own, stream);
  cudaFreeAsync(p, stream);
  EXPECT(wait() > 10 * part);

  // Of a capture the first node is dear, not its begin.
  cudaGraph_t graph;
  const double begin = host_us([&] { cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); });
  const double node = host_us([&] { touch<<<1, 256, 0, stream>>>(a); }), next = host_us([&] { touch<<<1, 256, 0, stream>>>(a); });
  cudaStreamEndCapture(stream, &graph);
  EXPECT(begin < 0.2 * node && next < 0.2 * node);
  // Branches side by side are dearer to instantiate than as many nodes in a row, and many nodes take long to destroy.
  const auto made = [&](int branches, int length, double* destroyed) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphCreate(&graph, 0);
    for (int b = 0; b < branches; ++b) {
      cudaGraphNode_t last = nullptr;
      for (int k = 0; k < length; ++k) cudaGraphAddEmptyNode(&last, graph, &last, last != nullptr);
    }
    const double took = host_us([&] { cudaGraphInstantiate(&ready, graph, 0); });
    *destroyed = host_us([&] { cudaGraphExecDestroy(ready); });
    cudaGraphDestroy(graph);
    return took;
  };
  double few, many;
  made(1, 64, &few);
  const double row = made(1, 16, &few), wide = made(16, 1, &many);
  EXPECT(wide > 3 * row && many > 2 * few);
  made(1, 128, &many);
  EXPECT(many > 3 * few);
  // Each that is instantiated is uploaded by its first launch, also where another one was before it.
  for (int k = 0; k < 3; ++k) {
    cudaGraphExec_t ready;
    cudaGraphInstantiate(&ready, graph, 0);
    const auto run = [&] { return host_us([&] { cudaGraphLaunch(ready, stream), cudaStreamSynchronize(stream); }); };
    const double uploads = run(), then = run();
    EXPECT(uploads > then + 3);
    cudaGraphExecDestroy(ready);
  }

  // Threads launch side by side, but for a part of it.
  const auto together = [&](int threads) {
    pthread_barrier_t begin;  // a busy machine may start one when another has ended
    pthread_barrier_init(&begin, nullptr, static_cast<unsigned>(threads));
    return host_us([&] {
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t)
        all.emplace_back([&] {
          cudaStream_t mine;
          cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
          pthread_barrier_wait(&begin);
          for (int k = 0; k < 500; ++k) touch<<<1, 1, 0, mine>>>(a);
          cudaStreamSynchronize(mine);
        });
      for (std::thread& t : all) t.join();
    });
  };
  const double alone = together(1), two = together(2), four = together(4);
  EXPECT(two > 1.05 * alone && two < 1.4 * alone && four > two && four < 2 * alone);

  // Pageable memory is copied faster once it has been copied. What the processor hands over by itself waits for no copy engine.
  std::vector<float> pageable(1 << 20);
  const auto copy = [&] { return host_us([&] { cudaMemcpy(a, pageable.data(), bytes, cudaMemcpyHostToDevice); }); };
  const double fresh = copy();
  EXPECT(fresh > 1.2 * copy());
  float* pinned;
  cudaMallocHost(&pinned, 64 << 20);
  float* device;
  cudaMalloc(&device, 64 << 20);
  cudaMemcpyAsync(device, pinned, 64 << 20, cudaMemcpyHostToDevice, stream);
  EXPECT(host_us([&] { cudaMemcpyAsync(a, pinned, 64, cudaMemcpyHostToDevice, other), cudaStreamSynchronize(other); }) < 100);
  EXPECT(wait() > 500);

  // A kernel that was launched with many arguments takes as long as it has to do.
  for (int n = 1; n <= 40; ++n) walk<<<1, 32, 0, stream>>>(a, n);
  wait();
  for (int k = 0; k < 2; ++k) walk<<<1, 32, 0, stream>>>(a, 20'000), wait();
  const double longer = host_us([&] { walk<<<1, 32, 0, stream>>>(a, 20'000), wait(); });
  EXPECT(longer > 20'000 * 4 / 2000);  // four cycles for each of its steps

  // Beside a kernel cudaMalloc takes longer. Who lets a kernel go on that waits for a word waits until it has seen that.
  int* flag;
  cudaHostAlloc(&flag, 64, cudaHostAllocMapped);
  *flag = 0;
  wait_for<<<1, 1, 0, stream>>>(flag);
  float* large;
  const double busy = host_us([&] { cudaMalloc(&large, bytes); });
  EXPECT(busy > 1.3 * second);
  *static_cast<volatile int*>(flag) = 1;
  EXPECT(wait() > 2);
  const double idle = wait();
  EXPECT(idle < 1);
  printf(
      "driver %.0f context %.0f malloc %.1f %.1f beside a kernel %.1f, managed used %.1f unused %.1f, pool grows %.1f has %.2f after a wait %.2f, gives back %.1f %.1f\n",
      driver, context, first, second, busy, used, unused, grows, at_once, after_wait, rest, part);
  puts(failed ? "FAILED" : "ok");
  return failed;
}
