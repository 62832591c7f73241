#pragma once
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

namespace warpbeam::lowering {

inline bool is_kernel(const llvm::Function& f) {
  const llvm::NamedMDNode* annotations = f.getParent()->getNamedMetadata("nvvm.annotations");
  for (unsigned k = 0; annotations && k < annotations->getNumOperands(); ++k) {
    const llvm::MDNode* node = annotations->getOperand(k);
    const auto* of = node->getNumOperands() > 1 ? llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(node->getOperand(0).get()) : nullptr;
    const auto* word = of && of->getValue() == &f ? llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(1).get()) : nullptr;
    if (word && word->getString() == "kernel") return true;
  }
  return false;
}

}  // namespace warpbeam::lowering
