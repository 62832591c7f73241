// Where in the program an instruction is, in the user's words, and faults told with it.
#include <fmt/format.h>

#include <filesystem>

#include "base/demangle.h"
#include "vm/grid.h"
#include "vm/warp.h"

namespace warpbeam::vm {
namespace {

bool has_place(const Insn& i, const FunctionCode& f) {
  return i.source && i.source->line && f.module && i.source->file < f.module->files.size();
}

// In a header of ours or of the compiler's.
bool in_platform(const Insn& i, const FunctionCode& f) {
  if (!has_place(i, f)) return false;
  const std::string& file = f.module->files[i.source->file];
  for (const char* part : {"/include/warpbeam/", "/include/cuda/", "/include/cooperative_groups", "/include/cuda_pipeline",
                           "/include/cuda_awbarrier", "/cuda_wrappers/"})
    if (file.find(part) != std::string::npos) return true;
  return false;
}

// Names inside the working directory are shown as the user typed them.
std::string in_words(std::string_view file, uint32_t line) {
  static const std::string here = [] {
    std::error_code error;
    return std::filesystem::current_path(error).string() + "/";
  }();
  if (file.starts_with(here)) file.remove_prefix(here.size());
  return fmt::format("{}:{}", file, line);
}

// Of an instruction that comes from one of the platform's headers, the one of the program's own code before it, which
// asked for what was inlined.
const Insn& in_program(const Insn& at, const FunctionCode& f) {
  if (!in_platform(at, f)) return at;
  const Insn *i = &at, *first = f.insns.data();
  while (i > first && (i->watched == Watched::Extra || !has_place(*i, f) || in_platform(*i, f))) --i;
  return has_place(*i, f) && !in_platform(*i, f) ? *i : at;
}

}  // namespace

std::string Warp::location(const Insn& at, const FunctionCode& f) {
  if (!at.source) return "";
  if (!f.origins.empty()) {
    const Origin& origin = f.origins[static_cast<size_t>(&at - f.insns.data())];
    return location(*origin.insn, *origin.function);
  }
  const Insn& i = in_program(at, f);
  if (has_place(i, f)) return in_words(f.module->files[i.source->file], i.source->line);
  return fmt::format("PTX line {}", at.source->at.line);
}

std::vector<Warp::Inlined> Warp::inlined(const Insn& at, const FunctionCode& f) {
  std::vector<Inlined> out;
  if (!at.source || !f.module) return out;
  if (!f.origins.empty()) {
    const Origin& origin = f.origins[static_cast<size_t>(&at - f.insns.data())];
    return inlined(*origin.insn, *origin.function);
  }
  const auto& calls = f.module->inlined;
  for (uint32_t n = in_program(at, f).source->column & ~ptx::kOfAlgorithm; n > 0 && n < calls.size(); n = calls[n].outer)
    out.push_back({demangled(calls[n].function), in_words(calls[n].file, calls[n].line)});
  return out;
}

bool Warp::of_algorithm(const Insn& at, const FunctionCode& f) {
  if (!at.source || !f.module) return false;
  if (f.origins.empty()) return in_program(at, f).source->column & ptx::kOfAlgorithm;
  const Origin& origin = f.origins[static_cast<size_t>(&at - f.insns.data())];
  return of_algorithm(*origin.insn, *origin.function);
}

void Warp::trap(TrapKind kind, const Insn& i, int lane, std::string message, uint64_t address, std::string detail) {
  Trap t;
  t.kind = kind;
  t.message = std::move(message);
  t.kernel = block->code->function->display_name;
  t.block = block->index;
  t.thread = tid[lane];
  t.location = location(i, *frame->function);
  t.address = address;
  t.detail = std::move(detail);
  throw TrapException{std::move(t)};
}

}  // namespace warpbeam::vm
