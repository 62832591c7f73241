// Host functions with thousands of calls: a `main` that launches hundreds of kernels and checks each call with streams and
// strings. Several of LLVM's passes take time by the square of such a function's blocks (360 launches: three minutes), and
// nobody waits for its own code when it runs. nvcc leaves host code unoptimised unless -O is given; these stay so here.
#include "lowering/language/long_functions.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>

namespace warpbeam::lowering {
namespace {

llvm::cl::opt<bool> host("warpbeam-host", llvm::cl::desc("Host code: only functions that are too long for the optimiser are looked for"));

// Measured: a function of 7,000 calls takes LLVM 8 seconds, one of 2,500 less than 2.
constexpr unsigned kMostCalls = 3000;

bool is_long(const llvm::Function& f) {
  unsigned calls = 0;
  for (const llvm::Instruction& i : llvm::instructions(f))
    if (llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i) && ++calls > kMostCalls) return true;
  return false;
}

}  // namespace

bool is_for_host() { return host; }

llvm::PreservedAnalyses LeaveLongFunctions::run(llvm::Module& m, llvm::ModuleAnalysisManager&) {
  for (llvm::Function& f : m) {
    if (f.isDeclaration() || f.hasFnAttribute(llvm::Attribute::OptimizeNone) || !is_long(f)) continue;
    for (const auto conflicting : {llvm::Attribute::AlwaysInline, llvm::Attribute::MinSize, llvm::Attribute::OptimizeForSize})
      f.removeFnAttr(conflicting);
    f.addFnAttr(llvm::Attribute::OptimizeNone);
    f.addFnAttr(llvm::Attribute::NoInline);
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
