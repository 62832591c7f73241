// Grids on two devices that run at the same time. An argument picks the case.
#include <cooperative_groups.h>
#include "cases.h"
namespace cg = cooperative_groups;

// In turns one device changes the cell, and all look at it when they have met.
__global__ void relay(int* cell, int* seen, int rounds, bool meets_again) {
  auto grids = cg::this_multi_grid();
  const bool first = cg::this_grid().thread_rank() == 0;
  for (int round = 0; round < rounds; ++round) {
    if (first && grids.grid_rank() == round % 2) cell[0] = cell[0] * 3 + 1;
    grids.sync();
    if (first) seen[round * 2 + grids.grid_rank()] = cell[0];  // expect devices_pass_on_too_early race_war
    if (meets_again) grids.sync();
    else cg::this_grid().sync();
  }
}
// Each device has half of the cells, and reads what the other has beside its own.
__global__ void halo(int* cells, int n, int rounds, bool all_meet) {
  auto grids = cg::this_multi_grid();
  const int at = grids.grid_rank() * n + cg::this_grid().thread_rank();
  int *now = cells, *next = cells + 2 * n;
  for (int k = 0; k < rounds; ++k) {
    next[at] = (at ? now[at - 1] : 0) + (at < 2 * n - 1 ? now[at + 1] : 0);  // expect halo_of_other_device race_war; expect halo_of_other_device race_raw
    if (all_meet) grids.sync();
    else cg::this_grid().sync();
    int* t = now;
    now = next;
    next = t;
  }
}
__global__ void count(int* cell, bool for_all_devices) {
  if (for_all_devices) atomicAdd_system(cell, 1);
  else atomicAdd(cell, 1);  // expect counted_on_one_device race_waw
  cg::this_multi_grid().sync();
}
// One device leaves a message for the other, behind a fence and a flag.
__global__ void message(int* data, int* flag, int* out, bool for_all_devices) {
  if (cg::this_multi_grid().grid_rank() == 0) {
    *data = 42;  // expect message_stays_on_device race_raw
    if (for_all_devices) __threadfence_system();
    else __threadfence();
    *(volatile int*)flag = 1;
  } else {
    while (*(volatile int*)flag == 0) {}
    __threadfence_system();
    *out = *data;
  }
}

struct Devices {
  int *cells, *seen;
  Devices() {
    setenv("WARPBEAM_DEVICES", "2", 1);
    cudaHostAlloc(&cells, 4096, cudaHostAllocPortable);
    cudaHostAlloc(&seen, 4096, cudaHostAllocPortable);
    memset(cells, 0, 4096);
    memset(seen, 0, 4096);
  }
  void run(void* kernel, void** arguments, int blocks, int threads) {
    cudaLaunchParams launches[2];
    for (int d = 0; d < 2; ++d) {
      cudaSetDevice(d);
      launches[d] = {kernel, dim3(blocks), dim3(threads), arguments, 0, nullptr};
      cudaStreamCreate(&launches[d].stream);
    }
    if (cudaError_t status = cudaLaunchCooperativeKernelMultiDevice(launches, 2, 0)) exit(printf("%s\n", cudaGetErrorString(status)));
    for (int d = 0; d < 2; ++d) {
      cudaSetDevice(d);
      cudaDeviceSynchronize();
      cudaStreamDestroy(launches[d].stream);
    }
  }
  ~Devices() {
    cudaFreeHost(cells);
    cudaFreeHost(seen);
  }
  void relays(bool meets_again) {
    int rounds = 4;
    void* arguments[] = {&cells, &seen, &rounds, &meets_again};
    run((void*)relay, arguments, 3, 64);
  }
  void halos(bool all_meet) {
    int n = 128, rounds = 5;
    void* arguments[] = {&cells, &n, &rounds, &all_meet};
    run((void*)halo, arguments, 2, 64);
  }
  void counts(bool for_all_devices) {
    void* arguments[] = {&cells, &for_all_devices};
    run((void*)count, arguments, 2, 64);
  }
  void messages(bool for_all_devices) {
    int* flag = cells + 1;
    void* arguments[] = {&cells, &flag, &seen, &for_all_devices};
    run((void*)message, arguments, 1, 1);
  }
};
CASE(devices_pass_on) { Devices().relays(true); }
CASE(devices_pass_on_too_early) { Devices().relays(false); }
CASE(halo_of_all) { Devices().halos(true); }
CASE(halo_of_other_device) { Devices().halos(false); }
CASE(counted_on_all_devices) { Devices().counts(true); }
CASE(counted_on_one_device) { Devices().counts(false); }
CASE(message_to_other_device) { Devices().messages(true); }
CASE(message_stays_on_device) { Devices().messages(false); }
