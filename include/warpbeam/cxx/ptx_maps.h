// cuda::ptx: tensor maps that kernels change, reductions of tiles, and copies to several blocks of a cluster.
#ifndef WARPBEAM_CXX_PTX_MAPS_H
#define WARPBEAM_CXX_PTX_MAPS_H

#include "ptx_barriers.h"

namespace cuda {
namespace ptx {

#if WB_HAS_ARCH(900)

// In shared memory an address has 32 bits, in global memory 64.
#define WB_IN_PLACES(X, field, bits)                                         \
  X(space_global_t, field, bits, ".global", "l"(map))                        \
  X(space_shared_t, field, bits, ".shared::cta", "r"(wb_async::shared_address(map)))
#define WB_REPLACE(Space, field, bits, place, ...)                                                                  \
  template <class T>                                                                                                \
  WB_ASYNC void tensormap_replace_##field(Space, void* map, T value) {                                              \
    static_assert(sizeof(T) == bits / 8, "cuda::ptx::tensormap_replace_" #field " takes values of " #bits " bits"); \
    WB_ASM("tensormap.replace.tile." #field place ".b1024.b" #bits " [%0], %1;" ::__VA_ARGS__, WB_VALUE##bits       \
           : "memory");                                                                                             \
  }
#define WB_REPLACE_ONE(Space, field, bits, place, ...)                                                                   \
  template <int n, class T>                                                                                              \
  WB_ASYNC void tensormap_replace_##field(Space, void* map, n32_t<n>, T value) {                                         \
    static_assert(sizeof(T) == bits / 8, "cuda::ptx::tensormap_replace_" #field " takes values of " #bits " bits");      \
    WB_ASM("tensormap.replace.tile." #field place ".b1024.b" #bits " [%0], %1, %2;" ::__VA_ARGS__, "n"(n), WB_VALUE##bits \
           : "memory");                                                                                                  \
  }
#define WB_REPLACE_KIND(Space, field, bits, place, ...)                                                       \
  template <int kind>                                                                                         \
  WB_ASYNC void tensormap_replace_##field(Space, void* map, n32_t<kind>) {                                    \
    WB_ASM("tensormap.replace.tile." #field place ".b1024.b" #bits " [%0], %1;" ::__VA_ARGS__, "n"(kind) : "memory"); \
  }
#define WB_VALUE32 "r"(__builtin_bit_cast(::std::uint32_t, value))
#define WB_VALUE64 "l"(__builtin_bit_cast(::std::uint64_t, value))
WB_IN_PLACES(WB_REPLACE, global_address, 64)
WB_IN_PLACES(WB_REPLACE, rank, 32)
WB_IN_PLACES(WB_REPLACE_ONE, box_dim, 32)
WB_IN_PLACES(WB_REPLACE_ONE, global_dim, 32)
WB_IN_PLACES(WB_REPLACE_ONE, global_stride, 64)
WB_IN_PLACES(WB_REPLACE_ONE, element_stride, 32)
WB_IN_PLACES(WB_REPLACE_KIND, elemtype, 32)
WB_IN_PLACES(WB_REPLACE_KIND, interleave_layout, 32)
WB_IN_PLACES(WB_REPLACE_KIND, swizzle_mode, 32)
WB_IN_PLACES(WB_REPLACE_KIND, fill_mode, 32)
// An older name.
template <class Space, int n, class T>
WB_ASYNC void tensormap_replace_element_size(Space space, void* map, n32_t<n> dimension, T value) {
  tensormap_replace_element_stride(space, map, dimension, value);
}
#undef WB_VALUE32
#undef WB_VALUE64
#undef WB_REPLACE
#undef WB_REPLACE_ONE
#undef WB_REPLACE_KIND
#undef WB_IN_PLACES

#define WB_MAP_COPY(scope)                                                                                             \
  template <int n>                                                                                                     \
  WB_ASYNC void tensormap_cp_fenceproxy(sem_release_t, scope_##scope##_t, void* to, const void* from, n32_t<n>) {      \
    WB_ASM("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release." #scope ".sync.aligned [%0], [%1], %2;" \
           ::"l"(to),                                                                                                  \
           "r"(wb_async::shared_address(from)), "n"(n)                                                                 \
           : "memory");                                                                                                \
  }
WB_MAP_COPY(cta)
WB_MAP_COPY(cluster)
WB_MAP_COPY(gpu)
WB_MAP_COPY(sys)
#undef WB_MAP_COPY

#define WB_TILE(n, op, name, slots, ...)                                                                            \
  WB_ASYNC void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_##op##_t, const void* map,           \
                                            const ::std::int32_t(&at)[n], const void* from) {                       \
    WB_ASM("cp.reduce.async.bulk.tensor." #n "d.global.shared::cta." name ".tile.bulk_group [%0, {" slots "}], [%1];" \
           ::"l"(map),                                                                                              \
           "r"(wb_async::shared_address(from)), __VA_ARGS__                                                         \
           : "memory");                                                                                             \
  }
#define WB_TILES(op, name)                                                                      \
  WB_TILE(1, op, name, "%2", "r"(at[0]))                                                        \
  WB_TILE(2, op, name, "%2, %3", "r"(at[0]), "r"(at[1]))                                        \
  WB_TILE(3, op, name, "%2, %3, %4", "r"(at[0]), "r"(at[1]), "r"(at[2]))                        \
  WB_TILE(4, op, name, "%2, %3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]))        \
  WB_TILE(5, op, name, "%2, %3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]))
WB_TILES(add, "add")
WB_TILES(min, "min")
WB_TILES(max, "max")
WB_TILES(inc, "inc")
WB_TILES(dec, "dec")
WB_TILES(and_op, "and")
WB_TILES(or_op, "or")
WB_TILES(xor_op, "xor")
#undef WB_TILES
#undef WB_TILE

// To every block of the cluster whose bit is set.
#define WB_MULTICAST(n, slots, ...)                                                                                     \
  WB_ASYNC void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* to, const void* map,                        \
                                     const ::std::int32_t(&at)[n], ::std::uint64_t* b, const ::std::uint16_t& blocks) { \
    WB_ASM("cp.async.bulk.tensor." #n                                                                                   \
           "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {" slots           \
           "}], [%2], %3;" ::"r"(wb_async::shared_address(to)),                                                         \
           "l"(map), "r"(wb_async::shared_address(b)), "h"(blocks), __VA_ARGS__                                         \
           : "memory");                                                                                                 \
  }
WB_MULTICAST(1, "%4", "r"(at[0]))
WB_MULTICAST(2, "%4, %5", "r"(at[0]), "r"(at[1]))
WB_MULTICAST(3, "%4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]))
WB_MULTICAST(4, "%4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]))
WB_MULTICAST(5, "%4, %5, %6, %7, %8", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]))
#undef WB_MULTICAST

#endif

}  // namespace ptx
}  // namespace cuda

#endif
