// For the checker: which calls led to code that was inlined.
//
// PTX as LLVM 19 writes it has a file, a line and a column for an instruction, and knows nothing of calls. Nobody reads the
// columns. So at the end each chain of calls gets a number, which becomes the column of all that came through it, and a pragma
// beside the code, which other readers pass over, tells what the number stands for:
//
//   .pragma "warpbeam inlined 5 3 20<tab>_Z4pullf<tab>/home/me/nbody.cu";
//
// Code with the column 5 is of the function `pull`, called in line 20 of nbody.cu, and that call came through chain 3 (0: it
// stands in the function as the PTX has it). Chains past the largest number have none. The highest bit of a column says that the
// code is CUB's or Thrust's.
#include "lowering/checker/inlined_calls.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "lowering/checker/own_places.h"
#include "lowering/checker/unset_variables.h"

namespace warpbeam::lowering {
namespace {

constexpr unsigned kMostChains = 0x7fff, kAlgorithmBit = 0x8000;

bool can_be_quoted(llvm::StringRef text) { return text.find_first_of("\"\\\t\n") == text.npos; }

class Chains {
 public:
  // Calls in the platform's headers are left out: of those the program knows nothing.
  unsigned number(const llvm::DILocation& place) {
    const llvm::DILocation* call = place.getInlinedAt();
    while (call && is_of_platform(call)) call = call->getInlinedAt();
    const llvm::DISubprogram* function = place.getScope()->getSubprogram();
    if (!call || !call->getLine() || !function) return 0;
    const auto known = numbers_.find({function, call});
    if (known != numbers_.end()) return known->second;
    const unsigned outer = number(*call);
    const llvm::StringRef name = function->getLinkageName().empty() ? function->getName() : function->getLinkageName();
    const llvm::SmallString<256> file = path_of(*call->getFile());
    unsigned& chain = numbers_[{function, call}];
    if (last_ == kMostChains || !can_be_quoted(name) || !can_be_quoted(file)) return chain = 0;
    chain = ++last_;
    text_ << ".pragma \"warpbeam inlined " << chain << ' ' << outer << ' ' << call->getLine() << '\t' << name << '\t' << file << "\";\n";
    return chain;
  }

  const std::string& text() const { return all_; }

 private:
  llvm::DenseMap<std::pair<const llvm::DISubprogram*, const llvm::DILocation*>, unsigned> numbers_;
  unsigned last_ = 0;
  std::string all_;
  llvm::raw_string_ostream text_{all_};
};

}  // namespace

llvm::PreservedAnalyses NameFunctions::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!is_for_checker()) return llvm::PreservedAnalyses::all();
  for (llvm::Function& f : module)
    if (llvm::DISubprogram* program = f.getSubprogram(); program && program->getLinkageName().empty())
      program->replaceRawLinkageName(llvm::MDString::get(module.getContext(), f.getName()));
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses NumberCalls::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!is_for_checker()) return llvm::PreservedAnalyses::all();
  Chains chains;
  for (llvm::Function& f : module)
    for (llvm::Instruction& i : llvm::instructions(f))
      if (const llvm::DILocation* place = i.getDebugLoc()) {
        const unsigned column = chains.number(*place) | (place->getColumn() == kOfAlgorithm ? kAlgorithmBit : 0);
        i.setDebugLoc(llvm::DILocation::get(module.getContext(), place->getLine(), column, place->getScope(), place->getInlinedAt()));
      }
  if (!chains.text().empty()) module.appendModuleInlineAsm(chains.text());
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
