#include "jit/codegen.h"

#include <fmt/format.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/xxhash.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>

#include "jit/lane_accesses.h"
#include "jit/late_nans.h"
#include "jit/mask_forms.h"
#include "jit/promote.h"
#include "jit/runtime.h"
#include "jit/way_out.h"

namespace warpbeam::jit {
namespace {

std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

bool wanted(const char* what) {
  const char* set = std::getenv("WARPBEAM_JIT_SHOW");
  return set && std::string_view(set) == what;
}

void own_place() {}  // lies in this library

// What takes LLVM longest in large kernels and brings nothing there. These are not among its passes' own parameters.
void keep_to_what_pays() {
  const std::pair<const char*, const char*> settings[] = {
      // After each round of changes CodeGenPrepare goes through the whole function again, which was a third of all. In
      // functions that it calls huge it only looks at the blocks that the round before has made.
      {"cgpp-huge-func", "0"},
      // Blocks in which GVN looks for what a load may depend on.
      {"memdep-block-number-limit", "40"},
      // Registers are given out with care even where nothing else is (see kLonger).
      {"optimize-regalloc", "1"},
  };
  const auto& options = llvm::cl::getRegisteredOptions();
  for (const auto& [name, value] : settings)
    if (const auto o = options.find(name); o != options.end() && !o->second->getNumOccurrences()) o->second->addOccurrence(0, "", value);
}

// LLVM's usual passes (O2) find next to nothing in kernels that these do not: code of the same speed, in four fifths of the time,
// and in half of it for long kernels, which are loops unrolled over dozens of elements.
constexpr unsigned kLong = 20000;  // instructions of LLVM's, before any pass
// Kernels that are as long as this when the passes are done get their instructions chosen without further ado, and left in that order:
// in less than two thirds of the time, for code that is as fast or a tenth slower (CUB's sorts).
constexpr unsigned kLonger = 15000;
constexpr const char* kPasses = "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)";

}  // namespace

HostCode::~HostCode() { llvm::consumeError(session_.removeJITDylib(library_)); }

CodeGenerator::CodeGenerator() = default;
CodeGenerator::~CodeGenerator() = default;

Result<std::unique_ptr<CodeGenerator>> CodeGenerator::make() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  keep_to_what_pays();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return Error{1, text_of(builder.takeError())};
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  if (const char* cpu = std::getenv("WARPBEAM_JIT_CPU")) {  // another processor than this one, by LLVM's name for it
    builder->setCPU(cpu);
    builder->getFeatures() = llvm::SubtargetFeatures();
  }
  auto out = std::unique_ptr<CodeGenerator>(new CodeGenerator);
  auto machine = builder->createTargetMachine();
  if (!machine) return Error{1, text_of(machine.takeError())};
  out->machine_ = std::move(*machine);
  const llvm::MCSubtargetInfo& has = *out->machine_->getMCSubtargetInfo();
  out->processor_ = {has.checkFeatures("+avx"), has.checkFeatures("+avx2"), has.checkFeatures("+avx512f"),
                     has.checkFeatures("+avx512f,+avx512bw,+avx512vl"),
                     // Intel's take three operations for what looks up bytes in two registers.
                     has.checkFeatures("+avx512f,+avx512bw,+avx512vl,+avx512vbmi") && !__builtin_cpu_is("intel"),
                     has.checkFeatures("+avx512f,+avx512bw,+avx512vl,+avx512vbmi,+avx512vnni,+avx512bitalg")};
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
  if (!jit) return Error{1, text_of(jit.takeError())};
  out->jit_ = std::move(*jit);
  llvm::orc::SymbolMap symbols;
  for (const Symbol& s : runtime_symbols(out->processor_))
    symbols[out->jit_->mangleAndIntern(s.name)] = {llvm::orc::ExecutorAddr::fromPtr(s.address), llvm::JITSymbolFlags::Exported};
  if (auto e = out->jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) return Error{1, text_of(std::move(e))};
  return out;
}

void CodeGenerator::prepare(llvm::Module& module) const {
  module.setDataLayout(jit_->getDataLayout());
  module.setTargetTriple(jit_->getTargetTriple().str());
}

void CodeGenerator::optimise(llvm::Module& module, bool watched) const {
  // Watched code counts in memory, again and again: a profiled matrix product took twice the time without all of them.
  const bool all_pay = watched && module.getInstructionCount() <= kLong;
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) {
      promote_variables(f);
      look_for_nans_late(f, processor_.avx512 ? 8 : 4);
    }
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = false;
  llvm::PassBuilder passes(machine_.get(), tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([&] { return machine_->getTargetIRAnalysis(); });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(cgscc);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, cgscc, modules);
  llvm::ModulePassManager all;
  if (all_pay) all = passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  else llvm::cantFail(passes.parsePassPipeline(all, kPasses));
  all.run(module, modules);
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) {
      settle_mask_forms(f);
      if (processor_.avx512) choose_before_mixing(f);
      settle_lane_accesses(f, functions.getResult<llvm::TargetIRAnalysis>(f));
      if (!processor_.avx512) {
        spread_mask_words(f);
        widen_mask_vectors(f);
      }
    }
}

// What the object depends on: the code before it is optimised, whose attributes name the processor, and who compiles it.
std::string CodeGenerator::key_of(const llvm::Module& module) const {
  static const std::string compiler = [] {
    Dl_info here{};
    struct stat file{};
    if (dladdr(reinterpret_cast<void*>(&own_place), &here) && here.dli_fname) stat(here.dli_fname, &file);
    return fmt::format("{} {} {}.{}", LLVM_VERSION_STRING, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  }();
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::WriteBitcodeToFile(module, stream);
  stream << compiler;
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(code.data()), code.size()));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// What TargetMachine::addPassesToEmitMC does, but without a second scheduling once registers are given out: what it costs
// grows with the square of a block, and processors that reorder instructions themselves gain nothing by it.
std::unique_ptr<llvm::MemoryBuffer> CodeGenerator::emit(llvm::Module& module, llvm::CodeGenFileType type) const {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(*machine_);
  const bool longer = module.getInstructionCount() > kLonger;
  machine.setOptLevel(longer ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default);
  machine.setFastISel(false);  // it knows next to no vectors; said for each module, for what LLVM does turns it on again
  machine.setO0WantsFastISel(false);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* steps = machine.createPassConfig(passes);
  steps->disablePass(&llvm::PostRASchedulerID);
  if (longer) steps->disablePass(&llvm::MachineSchedulerID);
  passes.add(steps);
  passes.add(functions);
  if (steps->addISelPasses()) return nullptr;
  steps->addMachinePasses();
  steps->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type, functions->getMMI().getContext())) return nullptr;
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(text), false);
}

Result<std::unique_ptr<HostCode>> CodeGenerator::compile(llvm::Module& module, const std::unordered_map<const void*, std::string>& names,
                                                         bool watched) {
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", machine_->getTargetCPU());
    f.addFnAttr("target-features", machine_->getTargetFeatureString());
    f.addFnAttr("prefer-vector-width", "512");
  }
  if (wanted("ir")) module.print(llvm::errs(), nullptr);
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(module, &stream)) return Error{1, "malformed code: " + stream.str()};
  const std::string key = key_of(module);
  const bool shown = wanted("optimised") || wanted("asm");
  std::unique_ptr<llvm::MemoryBuffer> object = shown ? nullptr : cache_.find(key);
  const bool found = object != nullptr;
  if (!object) {
    std::string why = do_or_leave([&] {
      optimise(module, watched);
      if (wanted("optimised")) module.print(llvm::errs(), nullptr);
      if (wanted("asm"))
        if (const auto text = emit(*llvm::CloneModule(module), llvm::CodeGenFileType::AssemblyFile)) llvm::errs() << text->getBuffer();
      object = emit(module, llvm::CodeGenFileType::ObjectFile);
    });
    left_in_its_midst_ = !why.empty();
    if (left_in_its_midst_) return Error{1, std::move(why)};
    if (!object) return Error{1, "this processor's code cannot be written"};
    cache_.keep(key, object->getBuffer());
  }
  // A library of its own for each kernel: names in it mean what this process has at other addresses than the next one.
  auto library = jit_->createJITDylib(fmt::format("kernel{}", serial_++));
  if (!library) return Error{1, text_of(library.takeError())};
  auto code = std::make_unique<HostCode>(jit_->getExecutionSession(), *library);
  code->from_cache = found;
  library->addToLinkOrder(jit_->getMainJITDylib());
  llvm::orc::SymbolMap symbols;
  for (const auto& [address, name] : names)
    symbols[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(const_cast<void*>(address)), llvm::JITSymbolFlags::Exported};
  if (!symbols.empty())
    if (auto e = library->define(llvm::orc::absoluteSymbols(std::move(symbols)))) return Error{1, text_of(std::move(e))};
  if (auto e = jit_->addObjectFile(*library, std::move(object))) return Error{1, text_of(std::move(e))};
  auto address = jit_->lookup(*library, "block");
  if (!address) return Error{1, text_of(address.takeError())};
  code->function = address->toPtr<HostCode::Function>();
  return code;
}

}  // namespace warpbeam::jit
