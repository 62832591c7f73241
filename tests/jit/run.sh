#!/usr/bin/env bash
# The fast engine from the outside: kernels kept on disk, and kernels that are compiled while they run. Ends with
# `N passed, N failed`.
set -u
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1
export WARPBEAM_NOTES=1
passed=0 failed=0

check() { # name, command …
  local name=$1
  shift
  if "$@" >"$name.out" 2>&1; then
    ((++passed))
  else
    ((++failed))
    printf 'FAIL %s\n' "$name"
    tail -n 20 "$name.out" log* 2>/dev/null
  fi
}

cat >program.cu <<'CU'
#include <cstdio>
#include <vector>
__global__ void step(unsigned* data, int n, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = data[i];
  for (int k = 0; k < turns; ++k) x = x * 1664525u + (x >> 7) + k;
  data[i] = x;
}
int main(int argc, char** argv) {
  const int n = 300007, turns = 50;
  std::vector<unsigned> host(n), want(n);
  for (int i = 0; i < n; ++i) want[i] = host[i] = i;
  unsigned* data;
  cudaMalloc(&data, n * sizeof *data);
  cudaMemcpy(data, host.data(), n * sizeof *data, cudaMemcpyHostToDevice);
  step<<<(n + 127) / 128, 128>>>(data, n, turns);
  cudaMemcpy(host.data(), data, n * sizeof *data, cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return 2;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < turns; ++k) want[i] = want[i] * 1664525u + (want[i] >> 7) + k;
    wrong += want[i] != host[i];
  }
  if (wrong) printf("%d wrong\n", wrong);
  return wrong != 0;
}
CU
"$warpbeam" nvcc -O2 program.cu -o program || { echo "0 passed, 1 failed"; exit 1; }

start() { WARPBEAM_ENGINE=${1:-jit} WARPBEAM_KERNEL_CACHE=${2:-$work/cache} ./program; }

compiles_and_keeps() { start 2>log && grep -q 'step.*compiled in' log && ! grep -q 'from the cache' log && ls cache/llvmcache-* >/dev/null; }
finds_again() { start 2>log && grep -q 'from the cache' log; }
# Second results by pointer stay in registers: none of these goes to the interpreter's handlers.
has_results_in_registers() {
  cat >results.cu <<'CU'
__global__ void results(float* out) {
  float s, c, whole, x = threadIdx.x * 0.37f;
  double dwhole;
  sincosf(x, &s, &c);
  float sum = s + c;
  sincospif(x, &s, &c);
  sum += s + c + modff(x, &whole) + whole + float(modf(double(x), &dwhole) + dwhole);
  out[threadIdx.x] = sum;
}
int main() {
  float* out;
  cudaMalloc(&out, 1024);
  results<<<1, 256>>>(out);
  return cudaDeviceSynchronize();
}
CU
  "$warpbeam" nvcc -O2 results.cu -o results && WARPBEAM_ENGINE=jit WARPBEAM_JIT_SHOW=plan WARPBEAM_KERNEL_CACHE=off ./results 2>log && grep -q 'plan: results' log && ! grep -q handlers log
}
sees_damage() {
  local file
  for file in cache/llvmcache-?*; do [[ $file == *timestamp ]] || printf 'damage' | dd of="$file" bs=1 seek=900 conv=notrunc 2>/dev/null; done
  start 2>log && grep -q 'compiled in' log && ! grep -q 'from the cache' log || return 1
  for file in cache/llvmcache-?*; do [[ $file == *timestamp ]] || : >"$file"; done
  start 2>log && ! grep -q 'from the cache' log || return 1
  start 2>log && grep -q 'from the cache' log
}
# What a kernel with little to do would win is less than what loading the engine costs.
loads_nothing_for_little() {
  local kernel='__global__ void k(int* p) { *p = 3; }'
  printf '%s\n' "$kernel" 'int main() { int *p, n = 0; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaMemcpy(&n, p, 4, cudaMemcpyDefault); return n != 3; }' >little.cu
  "$warpbeam" nvcc little.cu -o little && LD_DEBUG=files WARPBEAM_ENGINE=auto ./little 2>log && ! grep -q libwarpbeam_jit log &&
    LD_DEBUG=files WARPBEAM_ENGINE=jit ./little 2>log && grep -q libwarpbeam_jit log
}
# Code is executed from there: a folder that others can write to is let be.
trusts_no_folder_of_others() {
  mkdir -m 777 "$work/open" && start jit "$work/open" 2>log && start jit "$work/open" 2>log && ! grep -q 'from the cache' log && [[ -z $(ls -A "$work/open") ]] &&
    start jit "$work/made" 2>log && [[ $(stat -c %a "$work/made") == 700 ]]
}
does_without() { start jit off 2>log && ! grep -q 'from the cache' log && start jit /proc/nowhere 2>log; }
runs_side_by_side() {
  local pids=() pid
  rm -rf cache
  for _ in 1 2 3 4; do start 2>/dev/null & pids+=($!); done
  for pid in "${pids[@]}"; do wait "$pid" || return 1; done
}
compiles_while_it_runs() { start auto off 2>log && grep -q 'compiled in' log; }
# A single block goes on as it has begun. It is compiled first where what the kernel is given says that it will take long, and, the
# next time, where it has.
compiles_what_takes_long() {
  cat >long.cu <<'CU'
#include <cstdio>
__global__ void told(float* at, int n) {
  for (int i = 0; i < n; ++i) at[i & 15] = at[i & 15] * 0.5f + i;
}
__global__ void fixed(float* at) {
  for (int i = 0; i < 500000; ++i) at[i & 15] = at[i & 15] * 0.5f + i;
}
__global__ void unknown(float* at, const int* n) {
  for (int i = 0; i < *n; ++i) at[i & 15] = at[i & 15] * 0.5f + i;
}
int main() {
  float* at;
  int* n;
  cudaMallocManaged(&at, 64);
  cudaMallocManaged(&n, 4);
  *n = 500000;
  told<<<1, 1>>>(at, *n);
  cudaDeviceSynchronize();
  fprintf(stderr, "told\n");
  fixed<<<1, 1>>>(at);
  cudaDeviceSynchronize();
  fprintf(stderr, "fixed\n");
  for (int k = 0; k < 2; ++k) {
    unknown<<<1, 1>>>(at, n);
    cudaDeviceSynchronize();
    fprintf(stderr, "unknown\n");
  }
  return cudaGetLastError() != cudaSuccess;
}
CU
  "$warpbeam" nvcc long.cu -o long && WARPBEAM_ENGINE=auto WARPBEAM_KERNEL_CACHE=off ./long 2>log || return 1
  [[ $(grep -oE '(told|fixed|unknown)\(.*compiled|(told|fixed|unknown)$' log | sed 's/(.*) / /' | tr '\n' ' ') == 'told compiled told fixed compiled fixed unknown unknown compiled unknown ' ]]
}
# What LLVM has begun with takes seconds here; a program that unloads the kernel need not wait for it.
unloads_while_it_compiles() {
  local i
  {
    echo 'extern "C" __global__ void branches(unsigned* p) { unsigned a = p[threadIdx.x], b = blockIdx.x, c = a ^ b;'
    for ((i = 0; i < 70; ++i)); do
      echo "if (a & 1u << $((i % 31))) { b += a * $((i * 7919 + 1))u; c ^= b >> $((i % 29 + 1)); } else { a = a * 3 + c; b ^= p[(a + $i) & 255]; }"
    done
    echo 'p[threadIdx.x] = a ^ b ^ c; }'
  } >branches.cu
  cat >unload.cu <<'CU'
#include <cuda.h>
#include <cstdio>
int main() {
  CUdevice device;
  CUcontext context;
  CUdeviceptr data;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate(&context, nullptr, 0, device) || cuMemAlloc(&data, 1024)) return 1;
  void* arguments[] = {&data};
  for (int round = 0; round < 3; ++round) {
    CUmodule module;
    CUfunction branches;
    if (cuModuleLoad(&module, "branches.ptx") || cuModuleGetFunction(&branches, module, "branches")) return 2;
    if (cuLaunchKernel(branches, 64, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr) || cuCtxSynchronize()) return 3;
    if (cuModuleUnload(module)) return 4;
    fprintf(stderr, "unloaded\n");
  }
  return 0;
}
CU
  "$warpbeam" nvcc -ptx branches.cu && "$warpbeam" nvcc unload.cu -o unload -lcuda || return 1
  WARPBEAM_ENGINE=auto WARPBEAM_KERNEL_CACHE=off ./unload 2>log && [[ $(grep -m 1 -E 'unloaded|branches compiled' log) == unloaded ]]
}
# Blocks run the first version while the second, which assumes less, is made and takes its place.
changes_versions_while_it_runs() {
  cat >ranks.cu <<'CU'
#include <cstdio>
#include <vector>
__global__ void jump(long long* list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long node, next;
  while ((node = list[i]) >> 32 != -1 && (next = list[node >> 32]) >> 32 != -1) {
    long long sum = (node & 0xffffffff) + (next & 0xffffffff) + (next >> 32 << 32);
    __syncthreads();
    list[i] = sum;
  }
}
int main() {
  const int n = 20000;
  std::vector<long long> from(n), to(n);
  for (int i = 0; i < n; ++i) from[i] = i + 1 < n ? (long long)(i + 1) << 32 | 1 : (long long)(~0ull << 32);
  long long* list;
  cudaMalloc(&list, n * sizeof *list);
  for (int k = 0; k < 2; ++k) {
    cudaMemcpy(list, from.data(), n * sizeof *list, cudaMemcpyHostToDevice);
    jump<<<(n + 255) / 256, 256>>>(list, n);
  }
  if (cudaMemcpy(to.data(), list, n * sizeof *list, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += (to[i] & 0xffffffff) != n - 1 - i;
  return wrong != 0;
}
CU
  "$warpbeam" nvcc -O3 ranks.cu -o ranks || return 1
  local k
  for k in 1 2 3 4 5 6; do WARPBEAM_ENGINE=auto WARPBEAM_KERNEL_CACHE=off ./ranks || return 1; done
}
# A block whose numbers begin again at zero within a warp goes on in the interpreter. Where few blocks do, the others stay compiled; where
# many do, the kernel is compiled anew.
counts_on_less_where_many_blocks_leave() {
  cat >wraps.cu <<'CU'
#include <cstdlib>
#include <vector>
__device__ __host__ unsigned first(unsigned block, unsigned every) { return block % every ? 1000u : 0xfffffff0u; }
__global__ void triple(unsigned long long* out, unsigned every) {
  const unsigned i = first(blockIdx.x, every) + threadIdx.x;
  out[blockIdx.x * blockDim.x + threadIdx.x] += 3ull * i;
}
int main(int, char** words) {
  const unsigned blocks = 64, threads = 32, launches = 40, every = atoi(words[1]);
  unsigned long long* out;
  cudaMalloc(&out, blocks * threads * sizeof *out);
  cudaMemset(out, 0, blocks * threads * sizeof *out);
  for (unsigned k = 0; k < launches; ++k) {
    triple<<<blocks, threads>>>(out, every);
    cudaDeviceSynchronize();
  }
  std::vector<unsigned long long> host(blocks * threads);
  if (cudaMemcpy(host.data(), out, host.size() * sizeof *out, cudaMemcpyDeviceToHost)) return 2;
  int wrong = 0;
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned t = 0; t < threads; ++t) wrong += host[b * threads + t] != launches * 3ull * (first(b, every) + t);
  return wrong != 0;
}
CU
  "$warpbeam" nvcc -O3 wraps.cu -o wraps || return 1
  triples() { WARPBEAM_ENGINE=jit WARPBEAM_KERNEL_CACHE=off ./wraps "$1" 2>log; }
  triples 64 && ! grep 'anew' log && triples 1 && grep -q 'anew' log && ! grep 'too often' log
}
# Addresses of which lanes need but some are computed early, and begin again at zero in the others. What is known of others' stays known.
counts_on_other_addresses_where_differences_wrap() {
  cat >sums.cu <<'CU'
#include <vector>
constexpr int kThreads = 128;
__global__ void sums(const unsigned* in, unsigned* out, int rounds) {
  __shared__ unsigned s[kThreads];
  const int t = threadIdx.x;
  unsigned v = in[blockIdx.x * kThreads + t];
  for (int k = 0; k < rounds; ++k) {
    s[t] = v & 255;
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
      const unsigned o = t >= d ? s[t - d] : 0;
      __syncthreads();
      s[t] += o;
      __syncthreads();
    }
    v = s[kThreads - 1 - t];
    __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = v;
}
int main() {
  constexpr int kBlocks = 64, kRounds = 3;
  std::vector<unsigned> from(kBlocks * kThreads), to(from.size());
  for (size_t k = 0; k < from.size(); ++k) from[k] = k * 2654435761u;
  unsigned *in, *out;
  cudaMalloc(&in, from.size() * 4);
  cudaMalloc(&out, to.size() * 4);
  cudaMemcpy(in, from.data(), from.size() * 4, cudaMemcpyHostToDevice);
  for (int k = 0; k < 20; ++k) {
    sums<<<kBlocks, kThreads>>>(in, out, kRounds);
    cudaDeviceSynchronize();
  }
  if (cudaMemcpy(to.data(), out, to.size() * 4, cudaMemcpyDeviceToHost)) return 2;
  int wrong = 0;
  for (int b = 0; b < kBlocks; ++b) {
    std::vector<unsigned> v(from.begin() + b * kThreads, from.begin() + (b + 1) * kThreads);
    for (int r = 0; r < kRounds; ++r) {
      std::vector<unsigned> s(kThreads);
      unsigned sum = 0;
      for (int t = 0; t < kThreads; ++t) s[t] = sum += v[t] & 255;
      for (int t = 0; t < kThreads; ++t) v[t] = s[kThreads - 1 - t];
    }
    for (int t = 0; t < kThreads; ++t) wrong += to[b * kThreads + t] != v[t];
  }
  return wrong != 0;
}
CU
  "$warpbeam" nvcc -O3 sums.cu -o sums && WARPBEAM_ENGINE=jit WARPBEAM_KERNEL_CACHE=off WARPBEAM_JIT_SHOW=plan ./sums 2>log || return 1
  ! grep 'too often' log && [[ $(grep 'plan: sums' log | tail -n 1) == *'dense accesses'* ]]
}
# The fast engine's tests as a processor with SSE4.2 runs them, and as one with AVX2 where this one has more. They compile thousands
# of kernels, so where there are two such processors each test runs on one of them; half of the kernels come more than once, which
# a cache of this run's own tells.
other_processors() {
  local processor older=(x86-64-v2) k
  [[ $(</proc/cpuinfo) == *avx512* ]] && older+=(haswell)
  for processor in x86-64 x86-64-v2 haswell; do WARPBEAM_JIT_CPU=$processor start jit off || return 1; done
  [[ -n ${WARPBEAM_FAST:-} ]] && return
  for k in "${!older[@]}"; do
    GTEST_TOTAL_SHARDS=${#older[@]} GTEST_SHARD_INDEX=$k WARPBEAM_JIT_CPU=${older[k]} WARPBEAM_KERNEL_CACHE=$work/kernels \
      "${WARPBEAM_BUILD:-$root/build/release}/bin/test_jit" || return 1
  done
}

for case in compiles_and_keeps finds_again sees_damage trusts_no_folder_of_others does_without loads_nothing_for_little runs_side_by_side compiles_while_it_runs compiles_what_takes_long has_results_in_registers unloads_while_it_compiles changes_versions_while_it_runs counts_on_less_where_many_blocks_leave counts_on_other_addresses_where_differences_wrap other_processors; do check "$case" "$case"; done
echo "$passed passed, $failed failed"
((failed == 0))
