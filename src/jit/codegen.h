// From LLVM's intermediate language to host code in memory.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "jit/object_cache.h"
#include "jit/runtime.h"

namespace llvm {
class MemoryBuffer;
class TargetMachine;
namespace orc {
class ExecutionSession;
class JITDylib;
class LLJIT;
}  // namespace orc
}  // namespace llvm

namespace warpbeam::jit {

// A compiled block function; its memory goes with it.
class HostCode {
 public:
  using Function = int32_t (*)(void* context);
  HostCode(llvm::orc::ExecutionSession& session, llvm::orc::JITDylib& library) : session_(session), library_(library) {}
  ~HostCode();
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;
  Function function = nullptr;
  bool from_cache = false;

 private:
  llvm::orc::ExecutionSession& session_;
  llvm::orc::JITDylib& library_;
};

class CodeGenerator {
 public:
  CodeGenerator();
  ~CodeGenerator();
  static Result<std::unique_ptr<CodeGenerator>> make();
  // Host code of a module whose one function is called `block`: from the cache, or optimised and compiled now. `names` says
  // where what it refers to is. `watched`: it counts what it does.
  Result<std::unique_ptr<HostCode>> compile(llvm::Module& module, const std::unordered_map<const void*, std::string>& names, bool watched);
  // LLVM did not come to an end: neither this nor the module can be used again, or taken apart.
  bool left_in_its_midst() const { return left_in_its_midst_; }
  void prepare(llvm::Module& module) const;  // sets its target
  const Processor& processor() const { return processor_; }

 private:
  void optimise(llvm::Module& module, bool watched) const;
  std::unique_ptr<llvm::MemoryBuffer> emit(llvm::Module& module, llvm::CodeGenFileType type) const;
  std::string key_of(const llvm::Module& module) const;

  ObjectCache cache_ = ObjectCache::open();
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  Processor processor_;
  std::atomic<uint64_t> serial_{0};
  bool left_in_its_midst_ = false;
};

}  // namespace warpbeam::jit
