#include "compiler/kernel_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "assembly/machine_code.h"
#include "base/demangle.h"
#include "compiler/commands.h"
#include "compiler/process.h"
#include "compiler/ptx_text.h"
#include "compiler/temporary_directory.h"
#include "compiler/toolchain.h"
#include "model/device.h"
#include "ptx/module.h"

namespace warpbeam::compiler {
namespace {

void add_names(const ptx::Operand& o, std::set<std::string>& names) {
  if (!o.name.empty()) names.insert(o.name);
  for (const ptx::Operand& e : o.list) add_names(e, names);
}

// Functions and variables that a kernel reaches, itself included.
std::set<std::string> reached(const ptx::Module& module, const ptx::Function& kernel, std::vector<const ptx::Function*>& functions) {
  std::set<std::string> names;
  functions = {&kernel};
  for (size_t at = 0; at < functions.size(); ++at) {
    for (const ptx::Instruction& i : functions[at]->body)
      for (const ptx::Operand& o : i.operands) add_names(o, names);
    for (const ptx::Function& f : module.functions)
      if (f.has_body && names.contains(f.name) && std::ranges::find(functions, &f) == functions.end()) functions.push_back(&f);
  }
  return names;
}

// `ptxas -v` says: Compiling entry function 'k' for 'sm_90' … Used 12 registers, …, 1024 bytes smem
std::map<std::string, int> ask_ptxas(const std::string& file, int sm) {
  std::map<std::string, int> registers;
  std::string ptxas = find_program("ptxas");
  if (ptxas == toolchain().root + "/bin/ptxas") ptxas.clear();  // ours knows no more than this does
  if (ptxas.empty() && std::ifstream("/usr/local/cuda/bin/ptxas")) ptxas = "/usr/local/cuda/bin/ptxas";
  if (ptxas.empty()) return registers;
  const Command command{{ptxas, "-v", fmt::format("-arch=sm_{}", sm), "-o", "/dev/null", file}, ""};
  std::istringstream said(run_commands(std::span(&command, 1), 1)[0].messages);
  std::string entry;
  constexpr std::string_view kEntry = "Compiling entry function '", kUsed = "Used ";
  for (std::string line; std::getline(said, line);) {
    if (size_t at = line.find(kEntry); at != line.npos) {
      at += kEntry.size();
      entry = line.substr(at, line.find('\'', at) - at);
    } else if (size_t used = line.find(kUsed); used != line.npos && !entry.empty()) {
      registers[entry] = std::atoi(line.c_str() + used + kUsed.size());
    }
  }
  return registers;
}

KernelNeeds needs_of(const ptx::Module& module, const ptx::Function& kernel, const model::Device& device) {
  KernelNeeds out;
  out.name = kernel.name;
  out.display_name = demangled(kernel.name);
  out.max_threads = static_cast<int>(kernel.max_ntid[0] * std::max(kernel.max_ntid[1], 1u) * std::max(kernel.max_ntid[2], 1u));
  std::vector<const ptx::Function*> functions;
  reached(module, kernel, functions);
  const assembly::Target target = assembly::target_of(kernel, device.cc(), static_cast<uint32_t>(device.max_regs_per_thread),
                                                      static_cast<uint32_t>(device.regs_per_block));
  for (const ptx::Function* f : functions) out.registers = std::max(out.registers, assembly::assemble(module, *f, target).registers);
  out.static_shared = static_cast<int>(static_shared_of(module, kernel));
  return out;
}

}  // namespace

uint64_t static_shared_of(const ptx::Module& module, const ptx::Function& kernel) {
  std::vector<const ptx::Function*> functions;
  const std::set<std::string> names = reached(module, kernel, functions);
  uint64_t shared = 0;
  const auto place = [&](const ptx::Variable& v) {
    if (v.space == isa::Space::Shared && !v.unsized && names.contains(v.name)) shared = (shared + v.align - 1) / v.align * v.align + v.size;
  };
  for (const ptx::Variable& v : module.variables) place(v);
  for (const ptx::Function* f : functions)
    for (const ptx::Variable& v : f->locals) place(v);
  return shared;
}

Result<std::vector<KernelNeeds>> kernels_of(const std::string& file) {
  auto folder = TemporaryDirectory::make();
  if (!folder) return folder.error();
  std::string text_file = file;
  if (!file.ends_with(".ptx")) {
    text_file = folder->file("program.ptx");
    if (nvcc_command({"-ptx", "-o", text_file, file})) return Error{1, fmt::format("'{}' could not be compiled", file)};
  }
  std::ifstream in(text_file);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return Error{1, fmt::format("cannot read '{}'", file)};
  const ptx::ParseResult parsed = ptx::parse(text.str());
  if (!parsed.diagnostics.empty()) return Error{1, fmt::format("{}: {}", file, ptx::describe(parsed.diagnostics[0]))};
  const char* set = std::getenv("WARPBEAM_DEVICE");
  const model::Device* device = set ? model::find_device(set) : nullptr;
  const std::map<std::string, int> assembled = ask_ptxas(text_file, parsed.module->target_sm);
  std::vector<KernelNeeds> out;
  for (const ptx::Function& f : parsed.module->functions) {
    if (!f.entry || !f.has_body) continue;
    out.push_back(needs_of(*parsed.module, f, device ? *device : model::default_device()));
    if (auto it = assembled.find(f.name); it != assembled.end()) {
      out.back().registers = it->second;
      out.back().from_ptxas = true;
    }
  }
  return out;
}

}  // namespace warpbeam::compiler
