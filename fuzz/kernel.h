// A random kernel as a tree: what the generator makes, the shrinker takes apart, and `text` writes as PTX.
//
// Whatever a tree holds, its result is defined: threads write to places of their own, to shared cells with operations
// whose order does not matter, or on either side of a barrier; warps communicate through the set of lanes that is known
// to be there. So any two engines, and a device, must agree on every byte.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warpbeam::fuzz {

enum class NodeKind : uint8_t {
  Lines,     // statements that stay together
  If,        // parts: then, else
  Loop,      // parts: body. `lines` set the counter %n<id>, which is at least 1
  Switch,    // parts: the targets of a brx.idx. `lines` set the index %t0
  Break,     // out of the loop, where `condition`
  Continue,  // to the loop's next round, where `condition`
  Exit,      // the thread stores its registers and ends, where `condition`
};

struct Node {
  NodeKind kind = NodeKind::Lines;
  std::vector<std::string> lines;  // "$M" stands for the register that holds the set of lanes here
  std::string condition;           // "%p3" or "!%p3"
  std::vector<std::vector<Node>> parts;
};

struct Function {
  std::string name;
  bool wide = false;  // gives .b64 instead of .b32
  std::vector<Node> body;
};

// Registers %p0 … of each class, all of which are stored at the end.
inline constexpr int kRegisters = 8;
inline constexpr int kWideRegisters = 2;  // of 128 bits

// A place for every thread, in device memory and in shared memory, for each size 1 << k.
inline constexpr int kSlotSizes = 5;

// What a register begins with.
struct Setup {
  std::string name;
  std::vector<std::string> lines;
};

struct Kernel {
  uint64_t seed = 0;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{32, 1, 1};
  std::vector<Setup> setup;
  std::vector<Node> body;
  std::vector<Function> functions;
  // When not empty: the only registers that are stored, and nothing is set up that the body does not name.
  std::vector<std::string> stored;

  uint32_t block_threads() const { return block[0] * block[1] * block[2]; }
  uint32_t threads() const { return block_threads() * grid[0] * grid[1] * grid[2]; }
  std::string text() const;
};

// Where things lie in memory. `out`: an array for each register, with an element of each thread; then the slots; then
// cells that all threads share, 8 bytes each.
struct DumpedRegister {
  std::string name;  // "%r3"
  int bytes = 0;
  uint64_t offset = 0;
};
std::vector<DumpedRegister> dumped_registers(const Kernel& kernel);
// Those that the body names; one where it names none.
std::vector<std::string> named_registers(const Kernel& kernel);
uint64_t slot_offset(const Kernel& kernel, int size_log2);
uint64_t cells_offset(const Kernel& kernel);
uint64_t out_bytes(const Kernel& kernel);
uint32_t shared_slot_offset(const Kernel& kernel, int size_log2);
uint32_t shared_cells_offset(const Kernel& kernel);
uint32_t shared_bytes(const Kernel& kernel);

inline constexpr uint32_t kCells = 64, kSharedCells = 16;

// The input, the same for all kernels: areas of values of one kind each.
enum class Area : uint8_t { Bits, F32, F64, F16 };
inline constexpr uint32_t kAreaBytes = 1 << 15;
std::vector<std::byte> input_bytes();

// The kernel's parameters: in, out, two numbers and a float.
struct Parameters {
  uint64_t in = 0, out = 0;
  uint32_t first = 5, second = 0x1234567;
  float third = 1.5f;
  uint32_t unused = 0;
};

}  // namespace warpbeam::fuzz
