// What the profiler counts: for each instruction of a program, and summed up for a launch.
#pragma once
#include <cstdint>

namespace warpbeam::observe {

// Accesses to global or local memory.
struct Traffic {
  uint64_t requests = 0;
  uint64_t transactions = 0;  // segments on old devices, sectors on newer ones
  uint64_t sectors = 0;       // distinct sectors of 32 bytes
  uint64_t ideal = 0;         // sectors, had the bytes been side by side
  uint64_t lines = 0;         // distinct lines of 128 bytes
  uint64_t bytes = 0;         // asked for, each byte of a request once
  uint64_t bytes_moved = 0;
  Traffic& operator+=(const Traffic& o) {
    requests += o.requests, transactions += o.transactions, sectors += o.sectors, ideal += o.ideal;
    lines += o.lines, bytes += o.bytes, bytes_moved += o.bytes_moved;
    return *this;
  }
  Traffic operator*(uint64_t n) const {
    return {requests * n, transactions * n, sectors * n, ideal * n, lines * n, bytes * n, bytes_moved * n};
  }
};

struct SharedPasses {
  uint64_t wavefronts = 0;
  uint64_t conflicts = 0;  // wavefronts that lanes meeting in banks added
  uint64_t ideal = 0;      // wavefronts, had the bytes been spread over all banks
  uint64_t bytes = 0;      // asked for, each byte once
  SharedPasses& operator+=(const SharedPasses& o) {
    wavefronts += o.wavefronts, conflicts += o.conflicts, ideal += o.ideal, bytes += o.bytes;
    return *this;
  }
  SharedPasses operator*(uint64_t n) const { return {wavefronts * n, conflicts * n, ideal * n, bytes * n}; }
};

// Of one instruction.
struct Counts {
  uint64_t executed = 0;                                // by warps
  uint64_t threads = 0;                                 // that were active
  uint64_t threads_on = 0;                              // and that the predicate let take part
  uint64_t divergent = 0;                               // branches whose threads went different ways
  uint64_t to_global = 0, to_local = 0, to_shared = 0;  // warps whose access went there
  uint64_t to_cluster = 0;                              // to other blocks' shared memory
  uint64_t image_requests = 0;
  Traffic global, local;
  SharedPasses shared;
  SharedPasses loop_loads;  // of atomic operations on shared memory that are loops of loads and exchanges, as often as `to_shared`
  Counts& operator+=(const Counts& o) {
    executed += o.executed, threads += o.threads, threads_on += o.threads_on, divergent += o.divergent;
    to_global += o.to_global, to_local += o.to_local, to_shared += o.to_shared, to_cluster += o.to_cluster;
    image_requests += o.image_requests;
    global += o.global, local += o.local, shared += o.shared, loop_loads += o.loop_loads;
    return *this;
  }
  // The traffic of one access, so many times.
  void add(const Counts& access, uint64_t times) {
    to_cluster += access.to_cluster * times;
    to_global += access.to_global * times, to_local += access.to_local * times, to_shared += access.to_shared * times;
    if (access.to_global) global += access.global * times;
    if (access.to_local) local += access.local * times;
    if (access.to_shared) shared += access.shared * times, loop_loads += access.loop_loads * times;
  }
};

struct TrafficTotal : Traffic {
  uint64_t executed = 0;
  void add(const Traffic& traffic, uint64_t times) {
    *this += traffic;
    executed += times;
  }
  using Traffic::operator+=;
};

struct SharedTotal : SharedPasses {
  uint64_t executed = 0;
  void add(const SharedPasses& passes, uint64_t times) {
    *this += passes;
    executed += times;
  }
  using SharedPasses::operator+=;
};

struct Arithmetic {  // per thread
  uint64_t instructions = 0, add = 0, mul = 0, fma = 0;
  uint64_t packed_add = 0, packed_mul = 0, packed_fma = 0;  // of these, that did two operations at once
  uint64_t flops() const { return add + packed_add + mul + packed_mul + 2 * (fma + packed_fma); }
};

// Of a launch: what the expressions of metrics.inc speak of.
struct Totals {
  uint64_t executed = 0, threads = 0, threads_on = 0, branches = 0, divergent = 0;
  TrafficTotal global_ld, global_st, global_atom, global_red, local_ld, local_st;
  TrafficTotal global_copy, copy_past_l1;  // cp.async, and those of them that do not stay in L1
  SharedTotal shared_ld, shared_st, shared_atom, shared_copy;  // what cp.async writes
  uint64_t ldsm = 0, stsm = 0;  // accesses to tiles, which shared_ld.executed and shared_st.executed are without
  // Of those that were executed: by instructions of generic addresses, which the counters of a memory's instructions leave out.
  struct Generic {
    uint64_t global_ld = 0, global_st = 0, local_ld = 0, local_st = 0, shared_ld = 0, shared_st = 0, shared_atom = 0;
  } generic;
  uint64_t generic_atoms = 0;  // atomic operations of such that went elsewhere than to this block's shared memory
  Arithmetic fp16, fp32, fp64;
  uint64_t widened = 0;  // halves that became floats, by threads
  uint64_t integer = 0, conversions = 0, control = 0, memory = 0, communication = 0, special = 0, misc = 0;  // by threads
  uint64_t control_flow = 0, barriers = 0, textures = 0, texture_requests = 0, surface_ld = 0, surface_st = 0, surface_red = 0;  // by warps

  uint64_t blocks = 0, block_threads = 0, warps = 0;
  uint64_t registers = 0, static_shared = 0, dynamic_shared = 0;
  uint64_t limit_blocks = 0, limit_registers = 0, limit_shared = 0, limit_warps = 0;
  uint64_t limit_shared_split = 0;  // by as much shared memory as the driver gives, if that is known
  uint64_t resident_blocks = 0, resident_warps = 0, max_warps = 0, multiprocessors = 0;
  uint64_t bank_bytes = 128;  // that one pass over the banks can move

  uint64_t global_sectors() const {
    return global_ld.sectors + global_copy.sectors + global_st.sectors + global_atom.sectors + global_red.sectors;
  }
  uint64_t global_ideal() const { return global_ld.ideal + global_copy.ideal + global_st.ideal + global_atom.ideal + global_red.ideal; }
  uint64_t global_lines() const { return global_ld.lines + global_copy.lines + global_st.lines + global_atom.lines + global_red.lines; }
  // L1 counts cp.async among the loads.
  uint64_t load_requests() const { return global_ld.requests + global_copy.requests; }
  uint64_t load_sectors() const { return global_ld.transactions + global_copy.transactions; }
  uint64_t shared_wavefronts() const {
    return shared_ld.wavefronts + shared_st.wavefronts + shared_atom.wavefronts + shared_copy.wavefronts;
  }
  uint64_t shared_ideal() const { return shared_ld.ideal + shared_st.ideal + shared_atom.ideal + shared_copy.ideal; }
  uint64_t shared_conflicts() const { return shared_ld.conflicts + shared_st.conflicts + shared_atom.conflicts + shared_copy.conflicts; }
  uint64_t shared_bytes() const { return shared_ld.bytes + shared_st.bytes + shared_atom.bytes + shared_copy.bytes; }
  // The GPU's counter takes a cp.async for three loads, whatever its width.
  uint64_t shared_loads() const { return shared_ld.executed - generic.shared_ld + 3 * shared_copy.executed; }
  uint64_t loads_and_stores() const {
    return global_ld.executed + global_st.executed + global_copy.executed + local_ld.executed + local_st.executed + shared_ld.executed +
           ldsm + shared_st.executed + stsm + textures + surface_ld + surface_st;
  }
  uint64_t tail_blocks() const {
    const uint64_t wave = resident_blocks * multiprocessors;
    return wave ? blocks % wave : 0;
  }
};

}  // namespace warpbeam::observe
