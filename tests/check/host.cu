// What the host does: streams, events, managed and pinned memory, errors that nobody looks at. An argument picks the case.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <thread>

#include "cases.h"

__global__ void set(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }  // expect two_streams race_waw
__global__ void add(const int* p, int* q) { q[threadIdx.x] = p[threadIdx.x] + 1; }  // expect stream_reads_other race_raw
__global__ void wait_for(volatile int* flag) {
  while (!*flag) {
  }
}

const int kN = 256;
struct Data {
  int *p, *q, *pinned, *managed;
  cudaStream_t s, t;
  Data() {
    cudaMalloc(&p, kN * 4);
    cudaMalloc(&q, kN * 4);
    cudaMallocHost(&pinned, kN * 4);
    cudaMallocManaged(&managed, kN * 4);
    for (int k = 0; k < kN; ++k) pinned[k] = managed[k] = k;
    cudaMemset(p, 0, kN * 4);
    cudaMemset(q, 0, kN * 4);
    cudaDeviceSynchronize();
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFree(p);
    cudaFree(q);
    cudaFreeHost(pinned);
    cudaFree(managed);
  }
};

CASE(too_many_threads) {
  Data d;
  set<<<1, 2048>>>(d.p, 1);  // expect too_many_threads unchecked_error
}
CASE(too_many_threads_seen) {
  Data d;
  set<<<1, 2048>>>(d.p, 1);
  if (cudaGetLastError() == cudaSuccess) puts("accepted");
}
CASE(failed_copy_unseen) {
  Data d;
  cudaMemcpy(d.p, d.pinned, kN * 8, cudaMemcpyHostToDevice);  // expect failed_copy_unseen out_of_bounds
}
CASE(failed_copy_seen) {
  Data d;
  cudaError_t status = cudaMemcpy(d.p, d.pinned, kN * 8, cudaMemcpyHostToDevice);  // expect failed_copy_seen out_of_bounds
  if (status != cudaSuccess) puts("too long");
}
CASE(two_streams) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN, 0, d.t>>>(d.p, 2); }
CASE(one_stream) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN, 0, d.s>>>(d.p, 2); }
CASE(streams_apart) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN, 0, d.t>>>(d.q, 2); }
CASE(stream_reads_other) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); add<<<1, kN, 0, d.t>>>(d.p, d.q); }
CASE(stream_waits) {
  Data d;
  cudaEvent_t e;
  cudaEventCreate(&e);
  set<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaEventRecord(e, d.s);
  cudaStreamWaitEvent(d.t, e, 0);
  add<<<1, kN, 0, d.t>>>(d.p, d.q);
  cudaDeviceSynchronize();
  cudaEventDestroy(e);
}
CASE(host_waits_between) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); cudaStreamSynchronize(d.s); add<<<1, kN, 0, d.t>>>(d.p, d.q); }
CASE(default_stream_orders) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); set<<<1, kN>>>(d.p, 3); add<<<1, kN, 0, d.t>>>(d.p, d.q); }
CASE(copy_overlaps_kernel) {
  Data d;
  set<<<1, kN, 0, d.s>>>(d.p, 1);
  cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.t);  // expect copy_overlaps_kernel race_streams
}
CASE(copy_in_same_stream) { Data d; set<<<1, kN, 0, d.s>>>(d.p, 1); cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s); }
CASE(kernel_overlaps_copy) {
  Data d;
  cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);  // expect kernel_overlaps_copy race_streams
  add<<<1, kN, 0, d.t>>>(d.p, d.q);
}
CASE(pipeline) {
  Data d;
  for (int k = 0; k < 2; ++k) {
    cudaStream_t s = k ? d.t : d.s;
    int half = kN / 2 * k;
    cudaMemcpyAsync(d.p + half, d.pinned + half, kN * 2, cudaMemcpyHostToDevice, s);
    add<<<1, kN / 2, 0, s>>>(d.p + half, d.q + half);
    cudaMemcpyAsync(d.pinned + half, d.q + half, kN * 2, cudaMemcpyDeviceToHost, s);
  }
}
CASE(non_blocking_stream) {
  Data d;
  cudaStream_t n;
  cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking);
  cudaMemsetAsync(d.p, 1, kN * 4);  // expect non_blocking_stream race_streams
  add<<<1, kN, 0, n>>>(d.p, d.q);
  cudaDeviceSynchronize();
  cudaStreamDestroy(n);
}
CASE(managed_read_early) {
  Data d;
  set<<<1, kN>>>(d.managed, 5);
  printf("%d\n", d.managed[3]);  // expect managed_read_early host_race
}
CASE(managed_written_early) {
  Data d;
  add<<<1, kN>>>(d.managed, d.q);
  d.managed[7] = 1;  // expect managed_written_early host_race
}
CASE(managed_after_wait) { Data d; set<<<1, kN>>>(d.managed, 5); cudaDeviceSynchronize(); printf("%d\n", d.managed[3]); }
// Nothing runs any more where a kernel has failed, though waiting for it fails too.
__global__ void set_through(int* p, int** q) { p[threadIdx.x] = 1, **q = 5; }  // expect managed_after_failure null_pointer
CASE(managed_after_failure) {
  int** q;
  cudaMallocManaged(&q, sizeof *q);
  *q = nullptr;
  Data d;
  set_through<<<1, kN>>>(d.managed, q);
  printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%d\n", d.managed[3]);
}
CASE(managed_elsewhere) { Data d; set<<<1, kN / 2>>>(d.managed, 5); d.managed[kN - 1] = 9; }
CASE(pinned_read_early) {
  Data d;
  cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s);
  printf("%d\n", d.pinned[3]);  // expect pinned_read_early host_race
}
CASE(pinned_reused_early) {
  Data d;
  cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);
  d.pinned[3] = 0;  // expect pinned_reused_early host_race
}
CASE(pinned_after_wait) { Data d; cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s); cudaStreamSynchronize(d.s); printf("%d\n", d.pinned[3]); }
CASE(pinned_after_event) {
  Data d;
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaMemcpyAsync(d.pinned, d.p, kN * 4, cudaMemcpyDeviceToHost, d.s);
  cudaEventRecord(e, d.s);
  cudaEventSynchronize(e);
  printf("%d\n", d.pinned[3]);
  cudaEventDestroy(e);
}
// The time between two events is there once the later one has been waited for, in whatever way.
static void timed(void (*wait)(Data&, cudaEvent_t)) {
  Data d;
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  cudaEventRecord(from);
  set<<<1, kN>>>(d.p, 3);
  cudaEventRecord(to);
  wait(d, to);
  float time = 0;
  if (cudaEventElapsedTime(&time, from, to) == cudaSuccess) printf("%d\n", time >= 0);  // expect time_taken_early event_not_waited
  cudaEventDestroy(from);
  cudaEventDestroy(to);
}
CASE(time_taken_early) { timed([](Data&, cudaEvent_t) {}); }
CASE(time_after_event) { timed([](Data&, cudaEvent_t to) { cudaEventSynchronize(to); }); }
CASE(time_after_device) { timed([](Data&, cudaEvent_t) { cudaDeviceSynchronize(); }); }
CASE(time_after_query) { timed([](Data&, cudaEvent_t to) { while (cudaEventQuery(to) == cudaErrorNotReady) {} }); }
CASE(time_after_copy) { timed([](Data& d, cudaEvent_t) { cudaMemcpy(d.pinned, d.p, 4, cudaMemcpyDeviceToHost); }); }
// Neither the C library nor the program finds anything there.
CASE(managed_freed_as_host) {
  int* p;
  cudaMallocManaged(&p, kN * 4);
  p[0] = 1;
  free(p);  // expect managed_freed_as_host out_of_bounds
}
CASE(managed_past_end) {
  Data d;
  d.managed[3000] = 1;  // expect managed_past_end out_of_bounds
}
// A running kernel and the host meet at a volatile flag.
CASE(flag_for_running_kernel) {
  Data d;
  wait_for<<<1, 1, 0, d.s>>>(d.pinned);
  *(volatile int*)d.pinned = 1;
}
CASE(device_memory_on_host) {
  Data d;
  printf("%d\n", d.p[3]);  // expect device_memory_on_host device_pointer
}

// --- the host's kernel touches memory that is in use
static void must(bool well, const char* what) {
  if (!well) {
    perror(what);
    exit(3);
  }
}
CASE(written_to_file_while_read) {
  Data d;
  cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);
  FILE* file = tmpfile();
  must(write(fileno(file), d.pinned, kN * 4) == kN * 4, "write");
  iovec parts[2] = {{d.pinned, 8}, {d.pinned + 8, 16}};
  must(writev(fileno(file), parts, 2) == 24, "writev");
  must(fwrite(d.pinned, 4, kN, file) == kN && fflush(file) == 0, "fwrite");
  fclose(file);
}
CASE(read_into_other_half) {
  Data d;
  set<<<1, kN / 2>>>(d.managed, 5);
  int zeros = open("/dev/zero", O_RDONLY);
  must(read(zeros, d.managed + kN / 2, kN * 2) == kN * 2, "read");
  must(d.managed[kN - 1] == 0, "what was read");
  close(zeros);
}
CASE(written_to_file_early) {
  Data d;
  set<<<1, kN>>>(d.managed, 5);
  FILE* file = tmpfile();
  must(fwrite(d.managed, 4, kN, file) == kN && fflush(file) == 0, "fwrite");  // expect written_to_file_early host_race
  fclose(file);
}
CASE(read_from_file_early) {
  Data d;
  cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);
  int zeros = open("/dev/zero", O_RDONLY);
  must(read(zeros, d.pinned, kN * 4) == kN * 4, "read");  // expect read_from_file_early host_race
  close(zeros);
}
// Threads that begin, end and block every signal while memory is in use.
CASE(calls_of_threads) {
  Data d;
  cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);
  for (int k = 0; k < 20; ++k)
    std::thread([&] {
      cudaStreamQuery(d.t);
      FILE* file = tmpfile();
      must(write(fileno(file), d.pinned, kN * 4) == kN * 4, "write");
      fclose(file);
    }).join();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  FILE* file = tmpfile();
  must(write(fileno(file), d.pinned, kN * 4) == kN * 4, "write");
  cudaStreamQuery(d.t);
  must(write(fileno(file), d.pinned, kN * 4) == kN * 4, "write");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  fclose(file);
  must(system("exit 0") == 0, "system");
}

// What one thread reads into stays open while others close theirs.
CASE(calls_at_the_same_time) {
  std::thread threads[4];
  for (std::thread& thread : threads)
    thread = std::thread([] {
      Data d;
      int zeros = open("/dev/zero", O_RDONLY);
      for (int k = 0; k < 40; ++k) {
        cudaMemcpyAsync(d.p, d.pinned, kN * 4, cudaMemcpyHostToDevice, d.s);
        cudaStreamSynchronize(d.s);
        must(read(zeros, d.pinned, kN * 4) == kN * 4, "read");
      }
      close(zeros);
    });
  for (std::thread& thread : threads) thread.join();
}

// --- managed variables, and memory of the program that is registered
__managed__ int counter, table[64];
int neighbour = 3;
__global__ void bump() { atomicAdd(&counter, 1); }
__global__ void fill_table() { table[threadIdx.x] = threadIdx.x; }
CASE(managed_variable_read_early) {
  counter = 0;
  bump<<<2, 32>>>();
  printf("%d\n", counter);  // expect managed_variable_read_early host_race
  cudaDeviceSynchronize();
}
CASE(managed_variable_after_wait) {
  counter = 0;
  bump<<<2, 32>>>();
  neighbour *= 2;
  cudaDeviceSynchronize();
  must(counter == 64 && neighbour == 6, "counter");
}
CASE(managed_variable_elsewhere) {
  fill_table<<<1, 32>>>();
  table[63] = 5;
  cudaDeviceSynchronize();
}
template <class F>
static void with_registered(size_t offset, F f) {
  char* memory = (char*)aligned_alloc(4096, 16384);
  memset(memory, 0, 16384);
  int* mine = (int*)(memory + offset);
  cudaHostRegister(mine, 16384 - offset, cudaHostRegisterMapped);
  f(mine);
  cudaDeviceSynchronize();
  cudaHostUnregister(mine);
  must(memory[0] == 0, "memory");
  free(memory);
}
CASE(registered_read_early) {
  with_registered(0, [](int* p) {
    set<<<1, kN>>>(p + 1024, 4);
    printf("%d\n", p[1030]);  // expect registered_read_early host_race
  });
}
CASE(registered_in_the_middle) {
  with_registered(16, [](int* p) {
    set<<<8, kN>>>(p, 4);
    printf("%d\n", p[1500]);  // expect registered_in_the_middle host_race
  });
}
CASE(registered_after_wait) {
  with_registered(16, [](int* p) {
    set<<<8, kN>>>(p, 4);
    cudaDeviceSynchronize();
    printf("%d\n", p[1500]);
  });
}

// --- functions of the host that streams call, and memory that has gone
static void number(void* p) {
  for (int k = 0; k < 64; ++k) static_cast<int*>(p)[k] = k;  // expect function_after_copy_elsewhere host_race
}
struct TwoStreams {
  int *pinned, *d;
  cudaStream_t s, t;
  cudaEvent_t e;
  TwoStreams() {
    cudaMallocHost(&pinned, 256);
    cudaMalloc(&d, 256);
    memset(pinned, 0, 256);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreate(&e);
  }
  ~TwoStreams() {
    cudaDeviceSynchronize();
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFree(d);
    cudaFreeHost(pinned);
  }
};
CASE(function_after_copy_elsewhere) {
  TwoStreams w;
  cudaMemcpyAsync(w.d, w.pinned, 256, cudaMemcpyHostToDevice, w.s);
  cudaLaunchHostFunc(w.t, number, w.pinned);
}
CASE(function_before_copy_elsewhere) {
  TwoStreams w;
  cudaLaunchHostFunc(w.t, number, w.pinned);
  cudaMemcpyAsync(w.d, w.pinned, 256, cudaMemcpyHostToDevice, w.s);  // expect function_before_copy_elsewhere race_streams
}
CASE(function_between_copies) {
  TwoStreams w;
  for (int k = 0; k < 3; ++k) {
    cudaMemcpyAsync(w.d, w.pinned, 256, cudaMemcpyHostToDevice, w.s);
    cudaLaunchHostFunc(w.s, number, w.pinned);
  }
  cudaEventRecord(w.e, w.s);
  cudaStreamWaitEvent(w.t, w.e, 0);
  cudaMemcpyAsync(w.pinned, w.d, 256, cudaMemcpyDeviceToHost, w.t);
  cudaLaunchHostFunc(w.t, number, w.pinned);
  cudaStreamSynchronize(w.t);
  w.pinned[3] = 1;
}
CASE(function_of_other_memory) {
  TwoStreams w;
  int own[64];
  cudaMemcpyAsync(w.d, w.pinned, 128, cudaMemcpyHostToDevice, w.s);
  cudaLaunchHostFunc(w.t, number, own);
  cudaDeviceSynchronize();
}
CASE(reads_freed_pinned) {
  int* h;
  cudaMallocHost(&h, 256);
  h[3] = 3;
  cudaFreeHost(h);
  printf("%d\n", h[3]);  // expect reads_freed_pinned use_after_free
}
CASE(copies_freed_pinned) {
  TwoStreams w;
  int* h;
  cudaMallocHost(&h, 256);
  memset(h, 0, 256);
  cudaFreeHost(h);
  cudaMemcpyAsync(w.d, h, 256, cudaMemcpyHostToDevice, w.s);  // expect copies_freed_pinned use_after_free
}
CASE(copies_again_before_free) {
  TwoStreams w;
  int* h;
  cudaMallocHost(&h, 256);
  memset(h, 0, 256);
  cudaMemcpyAsync(w.d, h, 256, cudaMemcpyHostToDevice, w.s);
  cudaStreamSynchronize(w.s);
  cudaFreeHost(h);
}

// What stands in for a library that works on the calling thread says so (src/cuda/library_calls.h).
extern "C" void __warpbeam_library_begins();
extern "C" int __warpbeam_library_writes(void* address, size_t bytes, void* stream);
extern "C" void __warpbeam_library_ends();
static void fill_in_place(int* p, int* q, int* r, bool says) {
  if (says) {
    __warpbeam_library_begins();
    __warpbeam_library_writes(p, kN * 4, nullptr);
  }
  cudaMemset(r, 0, 4);  // calls of the runtime may lie in between
  for (int k = 0; k < kN; ++k) p[k] = k;  // expect library_unannounced device_pointer
  if (says) __warpbeam_library_ends();
  add<<<1, kN>>>(p, q);
}
CASE(library_on_this_thread) {
  Data d;
  int* fresh;
  cudaMalloc(&fresh, kN * 4);
  fill_in_place(fresh, d.q, d.p, true);
  cudaDeviceSynchronize();
  cudaFree(fresh);
}
CASE(library_unannounced) {
  Data d;
  int* fresh;
  cudaMalloc(&fresh, kN * 4);
  fill_in_place(fresh, d.q, d.p, false);
}
CASE(touched_behind_a_library) {
  Data d;
  __warpbeam_library_begins();
  __warpbeam_library_ends();
  d.p[0] = 1;  // expect touched_behind_a_library device_pointer
}
