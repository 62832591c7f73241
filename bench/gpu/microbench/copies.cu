// Copies and fills by size, and what calls cost the host.
#include <cstring>

#include "harness.h"

namespace micro {
namespace {

__global__ void nothing() {}

std::string size_name(size_t bytes) { return "bytes" + number((long long)bytes); }

template <class Copy>
void both_clocks(const std::string& name, size_t bytes, Copy copy) {
  const int count = bytes > (1 << 22) ? 5 : 15;
  report(name + "." + size_name(bytes) + ".event", sample(count, [&] {
           MICRO_CHECK(cudaDeviceSynchronize());
           return event_us(copy);
         }), "us");
  report(name + "." + size_name(bytes) + ".host", sample(count, [&] {
           MICRO_CHECK(cudaDeviceSynchronize());
           return host_us(copy);
         }), "us");
}

template <class Call>
void call(const char* name, Call work) {
  const int few = quick() ? 2 : 50;
  report(std::string("host.") + name, sample(9, [&] {
           const double us = host_us([&] {
                               for (int i = 0; i < few; ++i) work();
                             }) / few;
           MICRO_CHECK(cudaDeviceSynchronize());
           return us;
         }), "us/call");
}

}  // namespace

void copies() {
  const size_t largest = quick() ? 1 << 16 : size_t(64) << 20;
  Buffer<char> on_device(largest), second(largest);
  char *pinned = nullptr, *pinned_too = nullptr;
  MICRO_CHECK(cudaMallocHost(&pinned, largest));
  MICRO_CHECK(cudaMallocHost(&pinned_too, largest));
  std::memset(pinned, 1, largest);
  std::memset(pinned_too, 1, largest);
  std::vector<char> pageable(largest, 1), target(largest, 1);
  cudaStream_t up, down;
  MICRO_CHECK(cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking));
  MICRO_CHECK(cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking));
  std::vector<size_t> sizes;
  for (size_t bytes = 4; bytes <= largest; bytes *= bytes < 4096 ? 16 : 2) sizes.push_back(bytes);
  for (size_t bytes : sizes) {
    both_clocks("copy.to_device.pinned", bytes, [&] { MICRO_CHECK(cudaMemcpy(on_device.data, pinned, bytes, cudaMemcpyHostToDevice)); });
    both_clocks("copy.to_host.pinned", bytes, [&] { MICRO_CHECK(cudaMemcpy(pinned, on_device.data, bytes, cudaMemcpyDeviceToHost)); });
    both_clocks("copy.to_device.pageable", bytes, [&] { MICRO_CHECK(cudaMemcpy(on_device.data, pageable.data(), bytes, cudaMemcpyHostToDevice)); });
    both_clocks("copy.to_host.pageable", bytes, [&] { MICRO_CHECK(cudaMemcpy(target.data(), on_device.data, bytes, cudaMemcpyDeviceToHost)); });
    both_clocks("copy.to_device.pinned_async", bytes, [&] { MICRO_CHECK(cudaMemcpyAsync(on_device.data, pinned, bytes, cudaMemcpyHostToDevice)); });
    both_clocks("copy.to_host.pinned_async", bytes, [&] { MICRO_CHECK(cudaMemcpyAsync(pinned, on_device.data, bytes, cudaMemcpyDeviceToHost)); });
    both_clocks("copy.to_device.pageable_async", bytes, [&] { MICRO_CHECK(cudaMemcpyAsync(on_device.data, pageable.data(), bytes, cudaMemcpyHostToDevice)); });
    both_clocks("copy.on_device", bytes, [&] { MICRO_CHECK(cudaMemcpyAsync(second.data, on_device.data, bytes, cudaMemcpyDeviceToDevice)); });
    both_clocks("fill", bytes, [&] { MICRO_CHECK(cudaMemsetAsync(on_device.data, 0, bytes)); });
    if (bytes >= 65536) {
      report("copy.both_directions." + size_name(bytes) + ".host", sample(7, [&] {
               MICRO_CHECK(cudaDeviceSynchronize());
               return host_us([&] {
                        for (int i = 0; i < 4; ++i) {
                          MICRO_CHECK(cudaMemcpyAsync(on_device.data, pinned, bytes, cudaMemcpyHostToDevice, up));
                          MICRO_CHECK(cudaMemcpyAsync(pinned_too, second.data, bytes, cudaMemcpyDeviceToHost, down));
                        }
                        MICRO_CHECK(cudaDeviceSynchronize());
                      }) / 4;
             }), "us/pair");
      report("copy.in_a_row.to_device." + size_name(bytes), sample(7, [&] {
               return event_us([&] {
                        for (int i = 0; i < 8; ++i) MICRO_CHECK(cudaMemcpyAsync(on_device.data, pinned, bytes, cudaMemcpyHostToDevice));
                      }) / 8;
             }), "us/copy");
      report("copy.in_a_row.to_host." + size_name(bytes), sample(7, [&] {
               return event_us([&] {
                        for (int i = 0; i < 8; ++i) MICRO_CHECK(cudaMemcpyAsync(pinned, on_device.data, bytes, cudaMemcpyDeviceToHost));
                      }) / 8;
             }), "us/copy");
    }
  }
  if (!quick()) {
    const size_t pitch = 4096, width = 1000;
    for (int rows : {64, 1024, 8192}) {
      report("copy.rows_of_1000_bytes.to_device.rows" + number(rows), sample(7, [&] {
               return event_us([&] { MICRO_CHECK(cudaMemcpy2DAsync(on_device.data, pitch, pinned, pitch, width, rows, cudaMemcpyHostToDevice)); });
             }), "us");
    }
  }
  MICRO_CHECK(cudaFreeHost(pinned));
  MICRO_CHECK(cudaFreeHost(pinned_too));
}

void host_calls() {
  report("host.first_call", host_us([] { MICRO_CHECK(cudaFree(nullptr)); }), "us");
  cudaEvent_t event, second;
  cudaStream_t stream;
  call("event_create_destroy", [] {
    cudaEvent_t e;
    MICRO_CHECK(cudaEventCreate(&e));
    MICRO_CHECK(cudaEventDestroy(e));
  });
  call("stream_create_destroy", [] {
    cudaStream_t s;
    MICRO_CHECK(cudaStreamCreate(&s));
    MICRO_CHECK(cudaStreamDestroy(s));
  });
  MICRO_CHECK(cudaEventCreate(&event));
  MICRO_CHECK(cudaEventCreate(&second));
  MICRO_CHECK(cudaStreamCreate(&stream));
  call("event_record", [&] { MICRO_CHECK(cudaEventRecord(event)); });
  call("event_record_stream", [&] { MICRO_CHECK(cudaEventRecord(event, stream)); });
  call("event_query", [&] { cudaEventQuery(event); });
  call("event_synchronize_done", [&] { MICRO_CHECK(cudaEventSynchronize(event)); });
  MICRO_CHECK(cudaEventRecord(second));
  MICRO_CHECK(cudaDeviceSynchronize());
  call("event_elapsed", [&] {
    float ms;
    MICRO_CHECK(cudaEventElapsedTime(&ms, event, second));
  });
  call("stream_wait_event", [&] { MICRO_CHECK(cudaStreamWaitEvent(stream, event, 0)); });
  call("stream_query", [&] { cudaStreamQuery(stream); });
  call("device_synchronize_idle", [] { MICRO_CHECK(cudaDeviceSynchronize()); });
  call("stream_synchronize_idle", [&] { MICRO_CHECK(cudaStreamSynchronize(stream)); });
  call("launch", [] { nothing<<<1, 32>>>(); });
  call("launch_stream", [&] { nothing<<<1, 32, 0, stream>>>(); });
  call("launch_and_synchronize", [] {
    nothing<<<1, 32>>>();
    MICRO_CHECK(cudaDeviceSynchronize());
  });
  call("get_last_error", [] { cudaGetLastError(); });
  call("get_device", [] {
    int d;
    MICRO_CHECK(cudaGetDevice(&d));
  });
  call("get_properties", [] {
    cudaDeviceProp p;
    MICRO_CHECK(cudaGetDeviceProperties(&p, 0));
  });
  call("get_attribute", [] {
    int v;
    MICRO_CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
  });
  call("mem_get_info", [] {
    size_t a, b;
    MICRO_CHECK(cudaMemGetInfo(&a, &b));
  });
  for (long long bytes : {4LL, 4096LL, 65536LL, 1LL << 20, 4LL << 20, 16LL << 20, 64LL << 20, 256LL << 20, 1LL << 30}) {
    if (quick() && bytes > (1 << 20)) break;
    const std::string suffix = "." + size_name(bytes);
    const int count = quick() ? 2 : 8;
    std::vector<double> allocate, release, first, asynchronous, asynchronous_release;
    cudaStream_t pool_stream = stream;
    for (int i = 0; i < count; ++i) {
      void *a = nullptr, *b = nullptr;
      allocate.push_back(host_us([&] { MICRO_CHECK(cudaMalloc(&a, bytes)); }));
      first.push_back(event_us([&] { MICRO_CHECK(cudaMemsetAsync(a, 0, bytes)); }));
      release.push_back(host_us([&] { MICRO_CHECK(cudaFree(a)); }));
      asynchronous.push_back(host_us([&] { MICRO_CHECK(cudaMallocAsync(&b, bytes, pool_stream)); }));
      asynchronous_release.push_back(host_us([&] { MICRO_CHECK(cudaFreeAsync(b, pool_stream)); }));
      MICRO_CHECK(cudaStreamSynchronize(pool_stream));
    }
    report("host.malloc" + suffix, allocate, "us/call");
    report("host.free" + suffix, release, "us/call");
    report("fill.first_touch" + suffix, first, "us");
    report("host.malloc_async" + suffix, asynchronous, "us/call");
    report("host.free_async" + suffix, asynchronous_release, "us/call");
    if (bytes <= 64LL << 20) {
      std::vector<double> pin, unpin, managed;
      for (int i = 0; i < (quick() ? 1 : 3); ++i) {
        void* p = nullptr;
        pin.push_back(host_us([&] { MICRO_CHECK(cudaMallocHost(&p, bytes)); }));
        unpin.push_back(host_us([&] { MICRO_CHECK(cudaFreeHost(p)); }));
        managed.push_back(host_us([&] { MICRO_CHECK(cudaMallocManaged(&p, bytes)); }));
        MICRO_CHECK(cudaFree(p));
      }
      report("host.malloc_host" + suffix, pin, "us/call");
      report("host.free_host" + suffix, unpin, "us/call");
      report("host.malloc_managed" + suffix, managed, "us/call");
    }
  }
  // A host function in a stream, and a value carried from the device to a host that polls.
  call("host_function", [&] { MICRO_CHECK(cudaLaunchHostFunc(stream, [](void*) {}, nullptr)); });
  report("host.function_round_trip", sample(9, [&] {
           return host_us([&] {
             MICRO_CHECK(cudaLaunchHostFunc(stream, [](void*) {}, nullptr));
             MICRO_CHECK(cudaStreamSynchronize(stream));
           });
         }), "us");
}

}  // namespace micro
