// A program: one or more PTX texts parsed, linked, and made ready to run on one device.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vm/memory.h"

namespace warpbeam::vm {

struct Code;  // decoded instructions; engine headers define it

struct KernelParam {
  uint32_t offset, size, align;
  bool may_count = false;  // a whole number, or a pointer
};

// What the host may know about an entry function.
struct Kernel {
  std::string name;          // mangled, as in PTX
  std::string display_name;  // demangled
  std::vector<KernelParam> params;
  uint32_t param_bytes = 0;
  uint32_t static_shared = 0;  // bytes
  uint32_t constant_bytes = 0; // of the module's __constant__ variables
  uint32_t local_bytes = 0;    // per thread, without the call stack
  uint32_t call_bytes = 0;     // what calls need that do not come back to a function: no limit of the stack is about it
  uint32_t registers = 0;      // an estimate per thread
  std::array<uint32_t, 3> max_ntid{0, 0, 0};  // .maxntid or .reqntid; zeros when absent
  bool required_ntid = false;                 // .reqntid
  uint32_t min_ctas_per_sm = 0;
  std::array<uint32_t, 3> cluster{0, 0, 0};   // that it must be launched with; zeros: any
  int ptx_version = 0;   // 85 for 8.5
  int target_sm = 0;     // 90 for sm_90
  const Code* code = nullptr;
};

struct ProgramVariable {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  bool constant = false;
  bool managed = false;
};

class Program;
struct FunctionCode;
struct CallSite;
struct Insn;
class Warp;
using Builtin = void (*)(Warp& warp, const Insn& insn, const CallSite& site, uint32_t mask);

// A texture or surface reference: the host binds what its handle stands for.
struct ProgramReference {
  std::string name;
  uint64_t handle = 0;
  bool surface = false;
};

struct LoadOptions {
  // Where a managed variable lives instead of fresh device memory: host shadow variables.
  struct Placement {
    std::string name;
    void* host;
    uint64_t size;
  };
  std::vector<Placement> placements;
  // Variables live where this program has them, and keep what they hold: another form of the same texts.
  const Program* same_places = nullptr;
  int device_cc = 90;
  uint32_t guard_bytes =
      0;  // unused bytes after each variable of shared memory, and every other one by itself, so that running over its end is seen
  // The device's register file, for the estimate in Kernel::registers.
  uint32_t max_registers = 255, registers_per_block = 65536;
  // Functions that device code may call beyond the machine's own (builtins.h): the runtime API as kernels see it.
  Builtin (*find_builtin)(std::string_view name) = nullptr;
  Builtin launch_entry = nullptr;  // a call of a kernel: `kernel<<<…>>>(…)` as our compiler leaves it
};

enum class LoadErrorCode { InvalidPtx = 218, UnsupportedPtxVersion = 222, SymbolNotFound = 500, OutOfMemory = 2 };

class Program : public std::enable_shared_from_this<Program> {
 public:
  // All texts are linked together: an extern of one may be defined in another. On failure Error::code is a
  // LoadErrorCode and the message holds every diagnostic, a line each: "ptx:12:5: error: …".
  static Result<std::unique_ptr<Program>> load(std::span<const std::string_view> ptx, DeviceMemory& memory, const LoadOptions& options);
  ~Program();  // frees its variables

  const Kernel* find_kernel(std::string_view name) const;
  const ProgramVariable* find_variable(std::string_view name) const;
  const ProgramReference* find_reference(std::string_view name) const;
  std::span<const ProgramReference> references() const { return references_; }
  std::span<const std::unique_ptr<Kernel>> kernels() const { return kernels_; }
  std::span<const ProgramVariable> variables() const { return variables_; }

  struct Image;  // linked code and tables shared by the engines
  const Image& image() const { return *image_; }

 private:
  Program();
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<ProgramVariable> variables_;
  std::vector<ProgramReference> references_;
  std::unique_ptr<Image> image_;
  DeviceMemory* memory_ = nullptr;
  std::vector<uint64_t> owned_;  // allocations to free
};

}  // namespace warpbeam::vm
