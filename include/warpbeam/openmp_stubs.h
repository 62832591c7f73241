/* For objects with OpenMP that another compiler links. clang's code calls libomp; g++ -fopenmp brings libgomp, which does not know
   those calls, and whose omp_get_thread_num() does not know libomp's threads. So such an object has these functions itself: each
   goes on to libomp, which is loaded as the program starts. They are seen in this object alone: g++'s objects keep libgomp. */
#if defined(_OPENMP) && defined(__x86_64__) && defined(__linux__) && !defined(__CUDA_ARCH__)
#ifndef WARPBEAM_OPENMP_STUBS_H
#define WARPBEAM_OPENMP_STUBS_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define WB_OPENMP_FUNCTIONS(X)                                                                                       \
  X(__kmpc_aligned_alloc) X(__kmpc_alloc) X(__kmpc_barrier) X(__kmpc_barrier_master) X(__kmpc_barrier_master_nowait) \
  X(__kmpc_begin) X(__kmpc_bound_num_threads) X(__kmpc_bound_thread_num) X(__kmpc_calc_original_ivs_rectang)         \
  X(__kmpc_calloc) X(__kmpc_cancel) X(__kmpc_cancel_barrier) X(__kmpc_cancellationpoint) X(__kmpc_copyprivate)       \
  X(__kmpc_copyprivate_light) X(__kmpc_critical) X(__kmpc_critical_with_hint) X(__kmpc_destroy_allocator)            \
  X(__kmpc_destroy_lock) X(__kmpc_destroy_nest_lock) X(__kmpc_dispatch_deinit) X(__kmpc_dispatch_fini_4)             \
  X(__kmpc_dispatch_fini_4u) X(__kmpc_dispatch_fini_8) X(__kmpc_dispatch_fini_8u) X(__kmpc_dispatch_init_4)          \
  X(__kmpc_dispatch_init_4u) X(__kmpc_dispatch_init_8) X(__kmpc_dispatch_init_8u) X(__kmpc_dispatch_next_4)          \
  X(__kmpc_dispatch_next_4u) X(__kmpc_dispatch_next_8) X(__kmpc_dispatch_next_8u) X(__kmpc_dist_dispatch_init_4)     \
  X(__kmpc_dist_dispatch_init_4u) X(__kmpc_dist_dispatch_init_8) X(__kmpc_dist_dispatch_init_8u)                     \
  X(__kmpc_dist_for_static_init_4) X(__kmpc_dist_for_static_init_4u) X(__kmpc_dist_for_static_init_8)                \
  X(__kmpc_dist_for_static_init_8u) X(__kmpc_doacross_fini) X(__kmpc_doacross_init) X(__kmpc_doacross_post)          \
  X(__kmpc_doacross_wait) X(__kmpc_end) X(__kmpc_end_barrier_master) X(__kmpc_end_critical) X(__kmpc_end_masked)     \
  X(__kmpc_end_master) X(__kmpc_end_ordered) X(__kmpc_end_reduce) X(__kmpc_end_reduce_nowait) X(__kmpc_end_scope)    \
  X(__kmpc_end_sections) X(__kmpc_end_serialized_parallel) X(__kmpc_end_single) X(__kmpc_end_taskgroup)              \
  X(__kmpc_error) X(__kmpc_flush) X(__kmpc_for_collapsed_init) X(__kmpc_for_static_fini) X(__kmpc_for_static_init_4) \
  X(__kmpc_for_static_init_4u) X(__kmpc_for_static_init_8) X(__kmpc_for_static_init_8u) X(__kmpc_fork_call)          \
  X(__kmpc_fork_call_if) X(__kmpc_fork_teams) X(__kmpc_free) X(__kmpc_get_default_allocator)                         \
  X(__kmpc_get_target_offload) X(__kmpc_global_num_threads) X(__kmpc_global_thread_num) X(__kmpc_in_parallel)        \
  X(__kmpc_init_allocator) X(__kmpc_init_lock) X(__kmpc_init_lock_with_hint) X(__kmpc_init_nest_lock)                \
  X(__kmpc_init_nest_lock_with_hint) X(__kmpc_invoke_task_func) X(__kmpc_masked) X(__kmpc_master)                    \
  X(__kmpc_next_section) X(__kmpc_ok_to_fork) X(__kmpc_omp_get_target_async_handle_ptr) X(__kmpc_omp_has_task_team)  \
  X(__kmpc_omp_reg_task_with_affinity) X(__kmpc_omp_target_task_alloc) X(__kmpc_omp_task) X(__kmpc_omp_task_alloc)   \
  X(__kmpc_omp_task_begin_if0) X(__kmpc_omp_task_complete_if0) X(__kmpc_omp_task_with_deps) X(__kmpc_omp_taskwait)   \
  X(__kmpc_omp_taskwait_deps_51) X(__kmpc_omp_taskyield) X(__kmpc_omp_wait_deps) X(__kmpc_ordered)                   \
  X(__kmpc_pause_resource) X(__kmpc_pop_num_threads) X(__kmpc_process_loop_nest_rectang)                             \
  X(__kmpc_proxy_task_completed) X(__kmpc_proxy_task_completed_ooo) X(__kmpc_push_num_teams)                         \
  X(__kmpc_push_num_teams_51) X(__kmpc_push_num_threads) X(__kmpc_push_proc_bind) X(__kmpc_realloc) X(__kmpc_reduce) \
  X(__kmpc_reduce_nowait) X(__kmpc_scope) X(__kmpc_sections_init) X(__kmpc_serialized_parallel)                      \
  X(__kmpc_set_default_allocator) X(__kmpc_set_lock) X(__kmpc_set_nest_lock) X(__kmpc_set_thread_limit)              \
  X(__kmpc_single) X(__kmpc_task_allow_completion_event) X(__kmpc_task_get_depnode) X(__kmpc_task_get_successors)    \
  X(__kmpc_task_reduction_get_th_data) X(__kmpc_task_reduction_init) X(__kmpc_task_reduction_modifier_fini)          \
  X(__kmpc_task_reduction_modifier_init) X(__kmpc_taskgroup) X(__kmpc_taskloop) X(__kmpc_taskloop_5)                 \
  X(__kmpc_taskred_init) X(__kmpc_taskred_modifier_init) X(__kmpc_team_static_init_4) X(__kmpc_team_static_init_4u)  \
  X(__kmpc_team_static_init_8) X(__kmpc_team_static_init_8u) X(__kmpc_test_lock) X(__kmpc_test_nest_lock)            \
  X(__kmpc_threadprivate) X(__kmpc_threadprivate_cached) X(__kmpc_threadprivate_register)                            \
  X(__kmpc_threadprivate_register_vec) X(__kmpc_unset_lock) X(__kmpc_unset_nest_lock) X(omp_aligned_alloc)           \
  X(omp_aligned_calloc) X(omp_alloc) X(omp_calloc) X(omp_capture_affinity) X(omp_control_tool)                       \
  X(omp_destroy_allocator) X(omp_destroy_lock) X(omp_destroy_nest_lock) X(omp_display_affinity) X(omp_display_env)   \
  X(omp_free) X(omp_fulfill_event) X(omp_get_active_level) X(omp_get_affinity_format) X(omp_get_ancestor_thread_num) \
  X(omp_get_cancellation) X(omp_get_default_allocator) X(omp_get_default_device) X(omp_get_device_num)               \
  X(omp_get_dynamic) X(omp_get_initial_device) X(omp_get_level) X(omp_get_max_active_levels)                         \
  X(omp_get_max_task_priority) X(omp_get_max_teams) X(omp_get_max_threads) X(omp_get_nested) X(omp_get_num_devices)  \
  X(omp_get_num_places) X(omp_get_num_procs) X(omp_get_num_teams) X(omp_get_num_threads)                             \
  X(omp_get_partition_num_places) X(omp_get_partition_place_nums) X(omp_get_place_num) X(omp_get_place_num_procs)    \
  X(omp_get_place_proc_ids) X(omp_get_proc_bind) X(omp_get_schedule) X(omp_get_supported_active_levels)              \
  X(omp_get_team_num) X(omp_get_team_size) X(omp_get_teams_thread_limit) X(omp_get_thread_limit)                     \
  X(omp_get_thread_num) X(omp_get_wtick) X(omp_get_wtime) X(omp_in_explicit_task) X(omp_in_final) X(omp_in_parallel) \
  X(omp_init_allocator) X(omp_init_lock) X(omp_init_lock_with_hint) X(omp_init_nest_lock)                            \
  X(omp_init_nest_lock_with_hint) X(omp_is_initial_device) X(omp_pause_resource) X(omp_pause_resource_all)           \
  X(omp_realloc) X(omp_set_affinity_format) X(omp_set_default_allocator) X(omp_set_default_device)                   \
  X(omp_set_dynamic) X(omp_set_lock) X(omp_set_max_active_levels) X(omp_set_nest_lock) X(omp_set_nested)             \
  X(omp_set_num_teams) X(omp_set_num_threads) X(omp_set_schedule) X(omp_set_teams_thread_limit) X(omp_test_lock)     \
  X(omp_test_nest_lock) X(omp_unset_lock) X(omp_unset_nest_lock)

/* A jump through a pointer; the pointers stand in a table beside the names. */
#define WB_OPENMP_JUMP(name)                                                                           \
  __asm__(".pushsection .text.wb_openmp,\"ax\",@progbits\n" #name ": jmp *.Lwb_to_" #name "(%rip)\n"   \
          ".popsection\n.pushsection .rodata.wb_openmp,\"a\",@progbits\n.Lwb_name_" #name ": .asciz \"" \
          #name "\"\n.popsection\n.pushsection .data.rel.wb_openmp,\"aw\",@progbits\n.Lwb_to_" #name     \
          ": .quad 0\n.quad .Lwb_name_" #name "\n.popsection\n");

struct wb_openmp_function {
  void* to;
  const char* name;
};
__asm__(".pushsection .data.rel.wb_openmp,\"aw\",@progbits\n.balign 8\nwb_openmp_first:\n.popsection\n");
WB_OPENMP_FUNCTIONS(WB_OPENMP_JUMP)
__asm__(".pushsection .data.rel.wb_openmp,\"aw\",@progbits\nwb_openmp_last:\n.popsection\n");
#ifdef __cplusplus
extern "C" {
#endif
extern __attribute__((visibility("hidden"))) struct wb_openmp_function wb_openmp_first[], wb_openmp_last[];
#ifdef __cplusplus
}
#endif

static void wb_openmp_missing(void) {
  fputs("this program needs libomp.so.5 (Debian's package libomp5-19)\n", stderr);
  abort();
}

/* Before the constructors of programs. */
__attribute__((constructor(101))) static void wb_openmp_load(void) {
  struct wb_openmp_function* f;
  void* library = dlopen("libomp.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen("/usr/lib/llvm-19/lib/libomp.so.5", RTLD_NOW | RTLD_LOCAL);
  for (f = wb_openmp_first; f != wb_openmp_last; ++f) {
    f->to = library ? dlsym(library, f->name) : (void*)0;
    if (!f->to) f->to = (void*)wb_openmp_missing;
  }
}

#endif
#endif
