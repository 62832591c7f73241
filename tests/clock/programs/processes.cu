// Several processes on one device and on one clock: alone, two beside each other, forked and started anew, killed.
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void spin(long long ticks) {
  const long long begin = clock64();
  while (clock64() - begin < ticks) {}
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

struct Told {
  double begin, end, kernel;  // milliseconds
};

static bool copies = false;

// Tells that it is ready, and goes on when it is told to.
static int work(int from_parent, int to_parent) {
  cudaEvent_t before, after;
  cudaEventCreate(&before);
  cudaEventCreate(&after);
  constexpr size_t kBytes = 256 << 20;
  void *host = nullptr, *device = nullptr;
  if (copies) cudaMallocHost(&host, kBytes), cudaMalloc(&device, kBytes);
  spin<<<1, 1>>>(1000);
  cudaDeviceSynchronize();
  char word = 'r';
  if (write(to_parent, &word, 1) != 1 || read(from_parent, &word, 1) != 1) return 1;
  Told told{};
  told.begin = now();
  cudaEventRecord(before);
  if (copies) cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice);
  else spin<<<1, 1>>>(40'000'000);
  cudaEventRecord(after);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  told.end = now();
  float ms = 0;
  cudaEventElapsedTime(&ms, before, after);
  told.kernel = ms;
  return write(to_parent, &told, sizeof told) != sizeof told;
}

struct Child {
  pid_t id;
  int to, from;
};

static Child start(const char* self, bool anew) {
  int down[2], up[2];
  if (pipe(down) || pipe(up)) exit(2);
  const pid_t id = fork();
  if (id == 0) {
    close(down[1]), close(up[0]);
    if (!anew) exit(work(down[0], up[1]));
    char a[16], b[16];
    snprintf(a, sizeof a, "%d", down[0]);
    snprintf(b, sizeof b, "%d", up[1]);
    execl(self, self, copies ? "copy" : "child", a, b, nullptr);
    _exit(127);
  }
  close(down[0]), close(up[1]);
  return {id, down[1], up[0]};
}

static int failures = 0;
static void expect(bool good, const char* what, double a = 0, double b = 0) {
  if (!good) printf("%s: %f %f\n", what, a, b), ++failures;
}

// Of `count` at once; they all begin when all are ready.
static void run(const char* self, int count, bool anew, Told* told) {
  Child all[4];
  char word;
  for (int k = 0; k < count; ++k) all[k] = start(self, anew);
  for (int k = 0; k < count; ++k) expect(read(all[k].from, &word, 1) == 1, "a child is not ready");
  const double before = now();
  for (int k = 0; k < count; ++k) expect(write(all[k].to, &word, 1) == 1, "a child is gone");
  for (int k = 0; k < count; ++k) {
    int status = 1;
    expect(read(all[k].from, &told[k], sizeof told[k]) == sizeof told[k], "a child told nothing");
    waitpid(all[k].id, &status, 0);
    expect(status == 0, "a child failed");
    close(all[k].from), close(all[k].to);
  }
  const double after = now();
  for (int k = 0; k < count; ++k) {
    expect(before <= told[k].begin, "it began before it was told to", before, told[k].begin);
    expect(told[k].end <= after, "it ended after it was waited for", told[k].end, after);
    expect(told[k].kernel <= told[k].end - told[k].begin, "what it did took longer than it lived", told[k].kernel, told[k].end - told[k].begin);
  }
}

int main(int count, char** words) {
  if (count == 4) {
    copies = !strcmp(words[1], "copy");
    return work(atoi(words[2]), atoi(words[3]));
  }
  const char* self = "/proc/self/exe";
  for (const bool anew : {false, true}) {
    Told alone, both[2];
    run(self, 1, anew, &alone);
    run(self, 2, anew, both);
    for (const Told& each : both) {
      expect(each.kernel > 1.5 * alone.kernel, "kernels of two processes take turns", each.kernel, alone.kernel);
      expect(each.kernel < 2.5 * alone.kernel, "and nothing else", each.kernel, alone.kernel);
    }
    expect(both[0].begin < both[1].end && both[1].begin < both[0].end, "they run at the same time");
  }
  copies = true;
  Told alone, both[2];
  run(self, 1, true, &alone);
  run(self, 2, true, both);
  for (const Told& each : both) expect(each.kernel > 1.5 * alone.kernel, "copies of two processes share the link", each.kernel, alone.kernel);

  // One that is killed holds nobody up.
  copies = false;
  Child child = start(self, true);
  char word;
  expect(read(child.from, &word, 1) == 1, "it is not ready");
  kill(child.id, SIGKILL);
  waitpid(child.id, nullptr, 0);
  const double before = now();
  usleep(1000);
  expect(now() - before >= 1, "the clock stands still", now() - before);
  run(self, 1, true, &alone);
  expect(alone.kernel < both[0].kernel * 100, "it runs");
  printf(failures ? "%d failures\n" : "ok\n", failures);
  return failures != 0;
}
