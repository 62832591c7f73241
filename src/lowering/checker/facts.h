// What only the compiler sees of a source, for the checker: each fact a line of the file that the argument of the plugin's
// action `warpbeam-facts` names. src/compiler/check_facts.h tells what they mean.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/PassManager.h>

namespace clang {
class Decl;
class FunctionDecl;
}  // namespace clang

namespace warpbeam::lowering {

void add_fact(const llvm::Twine& line);
void take_last_fact_back();

// Functions with bodies that a declaration brings, those of classes and namespaces as well. What templates make, clang hands
// over by itself.
void each_function(clang::Decl* d, llvm::function_ref<void(clang::FunctionDecl*)> what);

// Of device code. Runs first: variables are still as they were written.
struct WriteFacts : llvm::PassInfoMixin<WriteFacts> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
