// build: -arch=sm_90a
// The inline PTX that templates of matrix libraries are made of, in the forms they write it: every line must load. None
// of it runs, since what it needs (tensor maps, warp groups, clusters) is not there.
#include <cstdint>
#include <cstdio>

__global__ void lines(int never, uint32_t s, uint64_t g, uint32_t r, uint64_t d, float f, uint16_t h) {
  if (!never) return;
  uint32_t a = 0;
  uint64_t q = 0;
  asm volatile("prefetch.tensormap [%0];" ::"l"(g) : "memory");
  asm volatile("prefetch.param.tensormap [%0];" ::"l"(g) : "memory");
  asm volatile("fence.proxy.tensormap::generic.release.gpu;");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(g) : "memory");
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(s), "l"(g));
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(s), "r"(r));
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 1, %1;" ::"r"(s), "l"(d));
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
          g),
      "r"(s));
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3}], "
      "[%2], %4;" ::"r"(s),
      "l"(g), "r"(s), "r"(r), "l"(d)
      : "memory");
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
      "[%0], [%1, {%4, %5, %6}], [%2], %3, %7;" ::"r"(s),
      "l"(g), "r"(s), "h"(h), "r"(r), "r"(r), "r"(r), "l"(d)
      : "memory");
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
      "%6}], [%2], {%7, %8};" ::"r"(s),
      "l"(g), "r"(s), "r"(r), "r"(r), "r"(r), "r"(r), "h"(h), "h"(h)
      : "memory");
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(g), "r"(r), "r"(r) : "memory");
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(g),
               "r"(s), "r"(r), "r"(r), "r"(r), "r"(r), "r"(r)
               : "memory");
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2, %3}], [%1];" ::"l"(g),
               "r"(s), "r"(r), "r"(r)
               : "memory");
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(g), "r"(s), "r"(r)
               : "memory");
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(g), "r"(s),
               "r"(r)
               : "memory");
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(g), "r"(r) : "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  asm volatile(
      "{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1; @P1 bra DONE; bra LAB_WAIT; "
      "DONE: }" ::"r"(s),
      "r"(r));
  asm volatile(
      "{ .reg .pred P1; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P1, [%1], %2, %3; selp.b32 %0, 1, 0, "
      "P1; }"
      : "=r"(a)
      : "r"(s), "r"(r), "r"(r));
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [remote]; "
      "}" ::"r"(s),
      "r"(r));
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; mbarrier.arrive.expect_tx.shared::cluster.b64 _, "
      "[remote], %2; }" ::"r"(s),
      "r"(r), "r"(r));
  asm volatile("mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%0], %1;" ::"r"(s), "r"(r));
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(s));
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(s));
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(s));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.cg.shared.global.L2::128B [%1], [%2], 16; }" ::"r"(r),
               "r"(s), "l"(g));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;" ::"r"(s), "l"(g), "r"(r));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; cp.async.ca.shared.global [%1], [%2], 4, p; }" ::"r"(r), "r"(s),
               "l"(g));
  asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile(
      "fence.mbarrier_init.release.cluster; fence.proxy.async; fence.proxy.async.shared::cta; fence.proxy.alias; "
      "fence.acq_rel.cluster;" ::
          : "memory");
  asm volatile("{ .reg .b32 l; .reg .pred p; elect.sync l|p, %1; @p mov.s32 %0, 1; }" : "+r"(a) : "r"(r));
  asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240; setmaxnreg.dec.sync.aligned.u32 24;");
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(a) : "r"(s));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(s), "r"(r));
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(a) : "r"(s), "r"(r));
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%0], %1, [%2];" ::"r"(s), "r"(r),
      "r"(s));
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%2, %2, %2, %2}, [%1];" ::"r"(s),
      "r"(s), "f"(f));
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(q));
  asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, %1;" : "=l"(q) : "f"(f));
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %0, %0, %0}, [%1], %2;"
               : "=r"(a)
               : "l"(g), "l"(d));
  asm volatile("discard.global.L2 [%0], 128; applypriority.global.L2::evict_normal [%0], 128;" ::"l"(g));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %0, %0, %0}, [%1];" : "=r"(a) : "r"(s));
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %0, %0, %0}, {%1, %1, %1, %1}, {%1, %1}, {%0, %0, %0, "
      "%0};"
      : "+f"(f)
      : "r"(r));
  asm volatile("wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::
                   : "memory");
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e5m2 {%0, %0}, %1, %1, p, "
      "1, 1; }"
      : "+r"(a)
      : "l"(d), "r"(r));
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite {%0, %0, %0, "
      "%0}, %1, %1, p; }"
      : "+r"(a)
      : "l"(d), "r"(r));
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %0, %0, %0}, {%3, "
      "%3, %3, %3}, %1, p, 1, -1; }"
      : "+f"(f)
      : "l"(d), "r"(r), "r"(a));
  *(uint64_t*)g = q + a + (uint64_t)f;
}

int main() {
  lines<<<1, 32>>>(0, 0, 0, 0, 0, 0, 0);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  std::printf("%s\n%s\n", cudaGetErrorString(status), status == cudaSuccess ? "PASS" : "FAIL");
  return status != cudaSuccess;
}
