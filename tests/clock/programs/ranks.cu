// Ranks of one mpirun: they share a device, or each has its own, and what MPI says of time is one clock.
#include <cuda_runtime.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void busy(float* x, int rounds) {
  float v = x[threadIdx.x];
  for (int k = 0; k < rounds; ++k) v = v * 0.999f + 0.5f;
  x[threadIdx.x] = v;
}

static int failed = 0;
static void expect(bool good, const char* what, double a, double b) {
  if (!good) printf("%s: %f %f\n", what, a, b), failed = 1;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, size = 0, devices = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cudaGetDeviceCount(&devices);
  cudaSetDevice(rank % devices);
  constexpr int kUnit = 100'000, kLength = 1 << 16;
  float* x;
  cudaMalloc(&x, kLength * sizeof(float));
  busy<<<1, 32>>>(x, 10);
  cudaDeviceSynchronize();
  const auto timed = [&](int rounds) {
    const double from = MPI_Wtime();
    busy<<<1, 32>>>(x, rounds);
    cudaDeviceSynchronize();
    return MPI_Wtime() - from;
  };
  // Each alone, in turn; then all at once, each with more than the one before.
  double unit = 0;
  for (int turn = 0; turn < size; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn == rank) unit = timed(kUnit);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double mine[4] = {unit, MPI_Wtime()};
  timed(kUnit * (rank + 1));
  mine[2] = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  mine[3] = MPI_Wtime();

  // What comes from the rank before is on the device, and right.
  std::vector<float> message(kLength, static_cast<float>(rank)), back(kLength);
  MPI_Sendrecv_replace(message.data(), kLength, MPI_FLOAT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  cudaMemcpy(x, message.data(), kLength * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(back.data(), x, kLength * sizeof(float), cudaMemcpyDeviceToHost);
  const auto before = static_cast<float>((rank + size - 1) % size);
  expect(std::count(back.begin(), back.end(), before) == kLength, "another message than was sent", back[0], before);

  std::vector<double> all(static_cast<size_t>(4 * size));
  MPI_Gather(mine, 4, MPI_DOUBLE, all.data(), 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    double work = 0, last = 0;
    for (int r = 0; r < size; ++r) last = std::max(last, all[static_cast<size_t>(4 * r + 2)]);
    for (int r = 0; r < size; ++r) {
      const double *its = &all[static_cast<size_t>(4 * r)], took = its[2] - its[1];
      printf("rank %d: alone %.3f began %.3f took %.3f met %.3f ms\n", r, its[0] * 1e3, (its[1] - all[1]) * 1e3, took * 1e3, (its[3] - all[1]) * 1e3);
      work += (r + 1) * its[0];
      expect(its[1] < last && its[3] >= last - 1e-6, "it left the barrier before the last one had come", its[3], last);
      // Of equal parts of one device the shortest is done first, after all of it and as much of each other one.
      const double ended = devices > 1 ? (r + 1) * its[0] : work + (size - 1 - r) * (r + 1) * its[0];
      expect(took > 0.9 * ended && took < 1.15 * ended, "it took another part of the device", took, ended);
    }
  }
  MPI_Finalize();
  if (rank == 0) puts(failed ? "FAILED" : "ok");
  return failed;
}
