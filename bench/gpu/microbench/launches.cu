// What launches cost: alone, in a row, by number and size of blocks, by resources, in graphs, with grid and cluster barriers.
#include <cooperative_groups.h>

#include "chain.cuh"

namespace micro {
namespace {

namespace cg = cooperative_groups;

__global__ void empty() {}

template <int Bytes>
struct Arguments {
  char bytes[Bytes];
};

template <int Bytes>
__global__ void with_arguments(Arguments<Bytes> arguments, int* out, int index) {
  if (out) *out = arguments.bytes[index];
}

// Never takes the branch whose values need `Registers` registers.
template <int Registers>
__global__ void with_registers(float* data, int never) {
  if (never) {
    float v[Registers];
#pragma unroll
    for (int i = 0; i < Registers; ++i) v[i] = static_cast<volatile float*>(data)[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Registers; ++i) static_cast<volatile float*>(data)[threadIdx.x + i] = v[i];
  }
}

__global__ void with_shared() {
  extern __shared__ int words[];
  if (clock64() == 0) words[threadIdx.x] = 1;
}

// Blocks that take `cycles` each.
__global__ void busy(int cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

template <class Launch>
void rows(const std::string& name, Launch launch) {
  const int count = quick() ? 4 : 1000;
  report(name + ".in_a_row", sample(5, [&] {
           return event_us([&] {
                    for (int i = 0; i < count; ++i) launch();
                  }) / count;
         }), "us/launch");
  report(name + ".host", sample(9, [&] {
           const int few = quick() ? 2 : 100;
           MICRO_CHECK(cudaDeviceSynchronize());
           const double us = host_us([&] {
             for (int i = 0; i < few; ++i) launch();
           });
           MICRO_CHECK(cudaDeviceSynchronize());
           return us / few;
         }), "us/launch");
}

// Device time of a grid: the extra time of three more launches of it behind the first.
template <class Launch>
double grid_us(Launch launch) {
  const double one = event_us(launch);
  const double four = event_us([&] {
    for (int i = 0; i < 4; ++i) launch();
  });
  return (four - one) / 3;
}

template <class Launch>
void blocks_by_count(const std::string& name, Launch launch) {
  for (int blocks : {1, 132, 264, 1000, 10000, 100000, 1000000}) {
    if (quick() && blocks > 264) break;
    report(name + ".blocks" + number(blocks), sample(blocks > 200000 ? 3 : 5, [&] { return grid_us([&] { launch(blocks); }); }), "us");
  }
}

void grids() {
  for (int threads : {32, 64, 128, 256, 512, 1024})
    blocks_by_count("grid.empty.threads" + number(threads), [&](int blocks) { empty<<<blocks, threads>>>(); });
  const int many = quick() ? 264 : 100000;
  Buffer<float> data(4096);
  for (int threads : {128, 256}) {
    const auto registers = [&](int count, auto kernel) {
      report("grid.registers" + number(count) + ".threads" + number(threads),
             sample(5, [&] { return grid_us([&] { kernel<<<many, threads>>>(data.data, 0); }); }), "us");
    };
    registers(8, with_registers<8>);
    registers(32, with_registers<32>);
    registers(64, with_registers<64>);
    registers(128, with_registers<128>);
    registers(200, with_registers<200>);
    MICRO_CHECK(cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, int(device().sharedMemPerBlockOptin)));
    for (int kb : {0, 1, 16, 48, 100, 200})
      if (size_t(kb) << 10 <= device().sharedMemPerBlockOptin)
        report("grid.shared" + number(kb) + ".threads" + number(threads),
               sample(5, [&] { return grid_us([&] { with_shared<<<many, threads, kb << 10>>>(); }); }), "us");
  }
  // Waves and tails of blocks of known length, one block to a multiprocessor at a time (120 KB of shared memory).
  MICRO_CHECK(cudaFuncSetAttribute(busy, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 << 10));
  for (int cycles : {2000, 20000})
    for (int blocks : {1, 66, 131, 132, 133, 200, 264, 265, 396, 528, 1056})
      report("grid.busy" + number(cycles) + ".threads1024.blocks" + number(blocks), sample(5, [&] {
               return grid_us([&] { busy<<<blocks, 1024, 120 << 10>>>(quick() ? 10 : cycles); });
             }), "us");
  // The same code with other shared memory in turn: whether the carve-out's change is paid for.
  report("grid.shared_alternating", sample(5, [&] {
           return grid_us([&] {
             with_shared<<<132, 128, 0>>>();
             with_shared<<<132, 128, 200 << 10>>>();
           });
         }), "us/pair");
  report("grid.shared_same_twice", sample(5, [&] {
           return grid_us([&] {
             with_shared<<<132, 128, 200 << 10>>>();
             with_shared<<<132, 128, 200 << 10>>>();
           });
         }), "us/pair");
}

// Thread 0 of block 0 reports the mean cycles of a barrier of the grid.
__global__ void grid_barriers(int count, long long* times) {
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  const long long start = clock64();
  for (int i = 0; i < count; ++i) grid.sync();
  if (grid.thread_rank() == 0) {
    times[0] = start;
    times[1] = clock64();
  }
}

template <int Blocks>
__global__ void __cluster_dims__(Blocks, 1, 1) cluster_barriers(int count, long long* times) {
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  const long long start = clock64();
  for (int i = 0; i < count; ++i) cluster.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    times[0] = start;
    times[1] = clock64();
  }
}

template <int Blocks>
__global__ void __cluster_dims__(Blocks, 1, 1) cluster_empty() {}

void barriers() {
  Buffer<long long> times(64);
  const int count = quick() ? 2 : 100, sms = device().multiProcessorCount;
  for (int threads : {32, 256, 1024})
    for (int per_sm : {1, 2}) {
      int n = count;
      long long* to = times.data;
      void* arguments[] = {&n, &to};
      report("grid_sync.threads" + number(threads) + ".per_sm" + number(per_sm), sample(5, [&] {
               MICRO_CHECK(cudaLaunchCooperativeKernel((void*)grid_barriers, dim3(quick() ? 4 : sms * per_sm), dim3(threads), arguments, 0, nullptr));
               MICRO_CHECK(cudaDeviceSynchronize());
               return block_cycles(times, 1) / count;
             }), "cycle");
    }
  rows("launch.cooperative", [&] {
    int n = 0;
    long long* to = times.data;
    void* arguments[] = {&n, &to};
    MICRO_CHECK(cudaLaunchCooperativeKernel((void*)grid_barriers, dim3(1), dim3(32), arguments, 0, nullptr));
  });
  if (device().major < 9) return;
  report("cluster_sync.blocks2", sample(5, [&] { cluster_barriers<2><<<2, 128>>>(count, times.data); return block_cycles(times, 1) / count; }), "cycle");
  report("cluster_sync.blocks4", sample(5, [&] { cluster_barriers<4><<<4, 128>>>(count, times.data); return block_cycles(times, 1) / count; }), "cycle");
  report("cluster_sync.blocks8", sample(5, [&] { cluster_barriers<8><<<8, 128>>>(count, times.data); return block_cycles(times, 1) / count; }), "cycle");
  const int many = quick() ? 264 : 100000;
  report("grid.cluster1", sample(5, [&] { return grid_us([&] { cluster_empty<1><<<many, 128>>>(); }); }), "us");
  report("grid.cluster2", sample(5, [&] { return grid_us([&] { cluster_empty<2><<<many, 128>>>(); }); }), "us");
  report("grid.cluster4", sample(5, [&] { return grid_us([&] { cluster_empty<4><<<many, 128>>>(); }); }), "us");
  report("grid.cluster8", sample(5, [&] { return grid_us([&] { cluster_empty<8><<<many / 8 * 8, 128>>>(); }); }), "us");
}

void graphs() {
  cudaStream_t stream, other;
  MICRO_CHECK(cudaStreamCreate(&stream));
  MICRO_CHECK(cudaStreamCreate(&other));
  for (int nodes : {1, 10, 100, 1000}) {
    if (quick() && nodes > 10) break;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    MICRO_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; ++i) empty<<<1, 32, 0, stream>>>();
    MICRO_CHECK(cudaStreamEndCapture(stream, &graph));
    const double instantiate = host_us([&] { MICRO_CHECK(cudaGraphInstantiate(&executable, graph, 0)); });
    report("graph.instantiate.nodes" + number(nodes), instantiate, "us");
    report("graph.replay.nodes" + number(nodes), sample(5, [&] { return event_us([&] { MICRO_CHECK(cudaGraphLaunch(executable, nullptr)); }); }), "us");
    report("graph.replay_in_a_row.nodes" + number(nodes), sample(5, [&] {
             return event_us([&] {
                      for (int i = 0; i < 20; ++i) MICRO_CHECK(cudaGraphLaunch(executable, nullptr));
                    }) / 20;
           }), "us");
    report("graph.launch_host.nodes" + number(nodes), sample(9, [&] {
             const double us = host_us([&] { MICRO_CHECK(cudaGraphLaunch(executable, nullptr)); });
             MICRO_CHECK(cudaDeviceSynchronize());
             return us;
           }), "us");
    MICRO_CHECK(cudaGraphExecDestroy(executable));
    MICRO_CHECK(cudaGraphDestroy(graph));
  }
  for (int width : {2, 8, 32}) {  // a root, `width` kernels of 10 us side by side, and their join
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    MICRO_CHECK(cudaGraphCreate(&graph, 0));
    int cycles = quick() ? 10 : 18000;
    void* arguments[] = {&cycles};
    cudaKernelNodeParams node = {};
    node.func = (void*)busy;
    node.gridDim = dim3(1);
    node.blockDim = dim3(32);
    node.kernelParams = arguments;
    cudaGraphNode_t root, join;
    std::vector<cudaGraphNode_t> middle(width);
    MICRO_CHECK(cudaGraphAddKernelNode(&root, graph, nullptr, 0, &node));
    for (auto& m : middle) MICRO_CHECK(cudaGraphAddKernelNode(&m, graph, &root, 1, &node));
    MICRO_CHECK(cudaGraphAddKernelNode(&join, graph, middle.data(), middle.size(), &node));
    MICRO_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    report("graph.fork_join.width" + number(width), sample(5, [&] { return event_us([&] { MICRO_CHECK(cudaGraphLaunch(executable, nullptr)); }); }), "us");
    MICRO_CHECK(cudaGraphExecDestroy(executable));
    MICRO_CHECK(cudaGraphDestroy(graph));
  }
}

void streams_together() {
  for (int streams : {1, 2, 4, 8, 16, 32, 64, 128}) {
    std::vector<cudaStream_t> all(streams);
    for (auto& s : all) MICRO_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    const int cycles = quick() ? 10 : 180000;
    report("streams.one_block_100us.streams" + number(streams), sample(5, [&] {
             MICRO_CHECK(cudaDeviceSynchronize());
             return host_us([&] {
               for (auto& s : all) busy<<<1, 32, 0, s>>>(cycles);
               MICRO_CHECK(cudaDeviceSynchronize());
             });
           }), "us");
    for (auto& s : all) MICRO_CHECK(cudaStreamDestroy(s));
  }
}

}  // namespace

void launches() {
  report("event.empty_interval", sample(9, [] { return event_us([] {}); }), "us");
  report("event.one_empty_kernel", sample(9, [] { return event_us([] { empty<<<1, 32>>>(); }); }), "us");
  report("event.two_empty_kernels", sample(9, [] { return event_us([] { empty<<<1, 32>>>(); empty<<<1, 32>>>(); }); }), "us");
  rows("launch.empty", [] { empty<<<1, 32>>>(); });
  rows("launch.empty_132x1024", [] { empty<<<132, 1024>>>(); });
  rows("launch.arguments8", [] { with_arguments<8><<<1, 32>>>({}, nullptr, 0); });
  rows("launch.arguments256", [] { with_arguments<256><<<1, 32>>>({}, nullptr, 0); });
  rows("launch.arguments1024", [] { with_arguments<1024><<<1, 32>>>({}, nullptr, 0); });
  rows("launch.arguments4000", [] { with_arguments<4000><<<1, 32>>>({}, nullptr, 0); });
  rows("launch.busy_10us", [] { busy<<<132, 256>>>(quick() ? 10 : 18000); });
  report("launch.and_wait", sample(9, [] {
           return host_us([] { empty<<<1, 32>>>(); MICRO_CHECK(cudaDeviceSynchronize()); });
         }), "us");
  grids();
  barriers();
  graphs();
  streams_together();
}

}  // namespace micro
