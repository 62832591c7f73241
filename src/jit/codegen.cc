#include "jit/codegen.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <cstdlib>

#include "jit/runtime.h"

namespace warpbeam::jit {
namespace {

std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

bool wanted(const char* what) {
  const char* set = std::getenv("WARPBEAM_JIT_SHOW");
  return set && std::string_view(set) == what;
}

}  // namespace

Result<std::unique_ptr<CodeGenerator>> CodeGenerator::make() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return Error{1, text_of(builder.takeError())};
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto out = std::unique_ptr<CodeGenerator>(new CodeGenerator);
  auto machine = builder->createTargetMachine();
  if (!machine) return Error{1, text_of(machine.takeError())};
  out->machine_ = std::move(*machine);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
  if (!jit) return Error{1, text_of(jit.takeError())};
  out->jit_ = std::move(*jit);
  llvm::orc::SymbolMap symbols;
  for (const Symbol& s : runtime_symbols())
    symbols[out->jit_->mangleAndIntern(s.name)] = {llvm::orc::ExecutorAddr::fromPtr(s.address), llvm::JITSymbolFlags::Exported};
  if (auto e = out->jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) return Error{1, text_of(std::move(e))};
  return out;
}

void CodeGenerator::prepare(llvm::Module& module) const {
  module.setDataLayout(jit_->getDataLayout());
  module.setTargetTriple(jit_->getTargetTriple().str());
}

Result<std::unique_ptr<HostCode>> CodeGenerator::compile(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context) {
  const std::string name = "block" + std::to_string(serial_++);
  for (llvm::Function& f : *module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", machine_->getTargetCPU());
    f.addFnAttr("target-features", machine_->getTargetFeatureString());
    f.addFnAttr("prefer-vector-width", "512");
    f.setName(name);
  }
  if (wanted("ir")) module->print(llvm::errs(), nullptr);
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*module, &stream)) return Error{1, "malformed code: " + stream.str()};

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
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*module, modules);
  if (wanted("optimised")) module->print(llvm::errs(), nullptr);

  auto tracker = jit_->getMainJITDylib().createResourceTracker();
  if (auto e = jit_->addIRModule(tracker, llvm::orc::ThreadSafeModule(std::move(module), std::move(context)))) return Error{1, text_of(std::move(e))};
  auto address = jit_->lookup(name);
  if (!address) return Error{1, text_of(address.takeError())};
  return std::make_unique<HostCode>(tracker, address->toPtr<HostCode::Function>());
}

}  // namespace warpbeam::jit
