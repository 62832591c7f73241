// PTX that records what it computes: after every statement that writes a register stands code that stores the value.
// Any engine runs the text, so two engines can be compared register by register without either knowing.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/module.h"

namespace warpbeam::vm {

struct TracePoint {
  std::string function, reg;
  uint32_t line = 0;  // in the text before tracing
  std::string statement;
  std::string source;           // "file.cu:34", or empty
  bool from_elsewhere = false;  // what it reads may have been written by another thread
};

// Where values go. Threads are numbered through the grid; those from `first_thread` on have `stride` bytes each.
struct TraceBuffer {
  uint64_t base = 0;
  uint32_t first_thread = 0, threads = 0;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  // 0: a digest of all values is kept. Otherwise a count, then so many records, of which `skip` are left out at first.
  uint32_t records = 0;
  uint64_t skip = 0;
  uint64_t stride() const { return 16 + uint64_t{16} * records; }
  uint64_t bytes() const { return stride() * threads; }
};

struct TraceRecord {
  uint64_t value, point;
};

// The module's text with recording added. Its points are appended to `points`; their indices are what records hold.
std::string add_trace(const ptx::Module& module, const TraceBuffer& buffer, std::vector<TracePoint>& points);

}  // namespace warpbeam::vm
