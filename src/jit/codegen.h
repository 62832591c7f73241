// From LLVM's intermediate language to host code in memory.
#pragma once
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace warpbeam::jit {

// A compiled block function; its memory goes with it.
class HostCode {
 public:
  using Function = int32_t (*)(void* context);
  HostCode(llvm::orc::ResourceTrackerSP tracker, Function function) : tracker_(std::move(tracker)), function_(function) {}
  ~HostCode() { llvm::consumeError(tracker_->remove()); }
  Function function() const { return function_; }

 private:
  llvm::orc::ResourceTrackerSP tracker_;
  Function function_;
};

class CodeGenerator {
 public:
  static Result<std::unique_ptr<CodeGenerator>> make();
  // Optimises and compiles a module whose one function is called `block`.
  Result<std::unique_ptr<HostCode>> compile(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context);
  void prepare(llvm::Module& module) const;  // sets its target

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::atomic<uint64_t> serial_{0};
};

}  // namespace warpbeam::jit
