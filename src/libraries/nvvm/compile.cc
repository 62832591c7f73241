#include "libraries/nvvm/compile.h"

#include <fmt/format.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "libraries/nvvm/dialect.h"
#include "libraries/nvvm/opaque_pointers.h"

namespace warpbeam::nvvm {

namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
constexpr char kLayout[] = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64";
// The newest that this LLVM knows; code for later ones is code for this one.
constexpr int kNewest = 90;

// The back end's own options are the whole process's.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

void register_target() {
  static const bool done = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

Compiled failed(Status status, std::string log) { return {status, {}, std::move(log)}; }

struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string* log) : log(log) {}
  std::string* log;
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error && info.getSeverity() != llvm::DS_Warning) return true;
    llvm::raw_string_ostream stream(*log);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << (info.getSeverity() == llvm::DS_Error ? "error: " : "warning: ");
    info.print(printer);
    stream << '\n';
    return true;
  }
};

bool is_bitcode(const std::string& bytes) {
  return llvm::isBitcode(reinterpret_cast<const unsigned char*>(bytes.data()),
                         reinterpret_cast<const unsigned char*>(bytes.data() + bytes.size()));
}

std::unique_ptr<llvm::Module> read(const Input& input, llvm::LLVMContext& context, std::string* log) {
  std::string text;
  const bool bitcode = is_bitcode(input.bytes);
  if (!bitcode) text = with_opaque_pointers(std::string_view(input.bytes).substr(0, input.bytes.find('\0')));
  const std::string name = input.name.empty() ? "<unnamed>" : input.name;
  const llvm::MemoryBufferRef bytes(bitcode ? llvm::StringRef(input.bytes) : llvm::StringRef(text), name);
  llvm::SMDiagnostic wrong;
  // Sizes are those of the device, whatever the text says.
  const llvm::ParserCallbacks layout([](llvm::StringRef, llvm::StringRef) { return std::optional<std::string>(kLayout); });
  auto module = llvm::parseIR(bytes, wrong, context, layout);
  if (!module) {
    *log += fmt::format("{} ({}, {}): error: {}\n", name, wrong.getLineNo(), wrong.getColumnNo() + 1, wrong.getMessage().str());
    return nullptr;
  }
  module->setTargetTriple(kTriple);
  adapt_annotations(*module);
  return module;
}

// The last component counts in what debuggers are told only.
bool version_fits(const llvm::Module& module) {
  const llvm::NamedMDNode* version = module.getNamedMetadata("nvvmir.version");
  if (!version || version->getNumOperands() == 0) return true;
  const llvm::MDNode* numbers = version->getOperand(0);
  auto number = [&](unsigned at) -> uint64_t {
    const auto* value =
        at < numbers->getNumOperands() ? llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(numbers->getOperand(at)) : nullptr;
    return value ? value->getZExtValue() : 0;
  };
  return number(0) <= static_cast<uint64_t>(kIrVersion[0]) && number(2) <= static_cast<uint64_t>(kIrVersion[2]);
}

// Everything that is not lazy, as one module.
struct Program {
  std::unique_ptr<llvm::Module> module;
  Status status = Status::Ok;
};
Program link_eager(const std::vector<Input>& inputs, llvm::LLVMContext& context, std::string* log) {
  Program program;
  for (const Input& input : inputs) {
    if (input.lazy) continue;
    auto module = read(input, context, log);
    if (!module) return {nullptr, Status::Unreadable};
    if (!version_fits(*module)) {
      *log += fmt::format("{}: error: its version of the intermediate language is newer than {}.{}\n", input.name, kIrVersion[0],
                          kIrVersion[1]);
      return {nullptr, Status::WrongVersion};
    }
    if (auto* version = module->getNamedMetadata("nvvmir.version")) version->eraseFromParent();
    llvm::raw_string_ostream stream(*log);
    if (llvm::verifyModule(*module, &stream)) return {nullptr, Status::Invalid};
    if (!program.module) program.module = std::move(module);
    else if (llvm::Linker::linkModules(*program.module, std::move(module))) return {nullptr, Status::Invalid};
  }
  return program;
}

bool link_lazy(llvm::Module& program, const Input& input, std::string* log) {
  auto module = read(input, program.getContext(), log);
  if (!module) return false;
  for (llvm::StringRef name : {"nvvmir.version", "nvvm.annotations", "llvm.ident", "opencl.ocl.version"})
    if (auto* node = module->getNamedMetadata(name)) node->eraseFromParent();
  if (auto* flags = module->getModuleFlagsMetadata()) flags->eraseFromParent();
  return !llvm::Linker::linkModules(
      program, std::move(module), llvm::Linker::LinkOnlyNeeded, [](llvm::Module& into, const llvm::StringSet<>& names) {
        llvm::internalizeModule(into, [&](const llvm::GlobalValue& value) { return !value.hasName() || !names.contains(value.getName()); });
      });
}

// The code itself says whether it has lines only or more; more is for -g.
void keep_debug_information(llvm::Module& module, const Options& options) {
  if (options.debug) return;
  bool full = false;
  for (const llvm::DICompileUnit* unit : module.debug_compile_units()) full |= unit->getEmissionKind() == llvm::DICompileUnit::FullDebug;
  if (options.line_info) llvm::stripNonLineTableDebugInfo(module);
  else if (full) llvm::StripDebugInfo(module);
}

// Kernels and what is marked as used stay; so do variables, which the host may ask for.
void keep_functions_inside(llvm::Module& module) {
  std::set<const llvm::GlobalValue*> seen_outside;
  if (const auto* annotations = module.getNamedMetadata("nvvm.annotations"))
    for (const llvm::MDNode* node : annotations->operands()) {
      const auto* word = node->getNumOperands() > 1 ? llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(1)) : nullptr;
      const auto* function =
          word && word->getString() == "kernel" ? llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) : nullptr;
      if (function) seen_outside.insert(function);
    }
  llvm::internalizeModule(module, [&](const llvm::GlobalValue& value) {
    const auto* function = llvm::dyn_cast<llvm::Function>(&value);
    return !function || seen_outside.contains(function) || function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
}

void set_back_end_option(llvm::StringRef name, llvm::StringRef value) {
  auto& all = llvm::cl::getRegisteredOptions();
  auto found = all.find(name);
  if (found == all.end()) return;
  found->second->reset();  // it may be given once
  found->second->addOccurrence(1, name, value);
}

struct Arch {
  int cc = 0;
  std::string suffix;
};
Arch arch_of(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return {std::atoi(text.substr(0, digits).c_str()), text.substr(digits)};
}

std::unique_ptr<llvm::TargetMachine> machine_for(const Options& options, std::string* log) {
  register_target();
  const Arch arch = arch_of(options.arch);
  const bool newer = arch.cc > kNewest;
  std::string cpu = fmt::format("sm_{}{}", newer ? kNewest : arch.cc, arch.cc == kNewest ? arch.suffix : "");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) {
    *log += error + "\n";
    return nullptr;
  }
  llvm::TargetOptions wanted;
  wanted.AllowFPOpFusion = options.fuse && options.optimize ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  set_back_end_option("nvptx-prec-divf32", options.exact_division ? "2" : "1");
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, cpu, "+ptx85", wanted, llvm::Reloc::Static, std::nullopt,
                                  options.optimize ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None));
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, bool much) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  machine.registerPassBuilderCallbacks(builder);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  auto passes = much ? builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
                     : builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  passes.run(module, modules);
}

std::string ptx_of(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
  passes.run(module);
  return text.str().str();
}

// For architectures after the newest known one: their PTX has all that is in it.
void name_target(std::string& ptx, const Options& options) {
  const Arch arch = arch_of(options.arch);
  if (arch.cc <= kNewest) return;
  const size_t version = ptx.find(".version "), target = ptx.find(".target ");
  if (version == ptx.npos || target == ptx.npos) return;
  const size_t end = ptx.find_first_of(",\n", target);
  ptx.replace(target, end - target, fmt::format(".target sm_{}{}", arch.cc, arch.suffix));
  ptx.replace(version, ptx.find('\n', version) - version, ".version 8.8");
}

}  // namespace

Compiled verify(const std::vector<Input>& inputs) {
  const std::lock_guard lock(one_at_a_time());
  Compiled result;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(&result.log));
  result.status = link_eager(inputs, context, &result.log).status;
  return result;
}

Compiled compile(const std::vector<Input>& inputs, const Options& options) {
  const std::lock_guard lock(one_at_a_time());
  Compiled result;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(&result.log));
  auto [program, status] = link_eager(inputs, context, &result.log);
  if (status != Status::Ok) return failed(status, result.log);
  if (!program) program = std::make_unique<llvm::Module>("nothing", context);
  if (std::string unknown = define_foreign_intrinsics(*program); !unknown.empty())
    return failed(Status::Invalid, result.log + "error: there is no such function: " + unknown + "\n");
  for (const Input& input : inputs)
    if (input.lazy && !link_lazy(*program, input, &result.log)) return failed(Status::Unreadable, result.log);
  keep_debug_information(*program, options);
  describe_device_library(*program);
  mark_convergent(*program);
  if (options.bitcode) {
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::WriteBitcodeToFile(*program, stream);
    result.code = std::string(kLinkable) + bytes.str().str();
    return result;
  }
  if (options.whole_program) keep_functions_inside(*program);
  apply_options(*program, options);
  auto machine = machine_for(options, &result.log);
  if (!machine) return failed(Status::Invalid, result.log);
  program->setDataLayout(machine->createDataLayout());
  optimize(*program, *machine, options.optimize);
  result.code = ptx_of(*program, *machine);
  name_target(result.code, options);
  return result;
}

}  // namespace warpbeam::nvvm
