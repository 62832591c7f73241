#include "lowering/checker/facts.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/Mangle.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lowering/checker/dropped_results.h"
#include "lowering/checker/kernel_ends.h"
#include "lowering/checker/type_gaps.h"
#include "lowering/checker/unset_warnings.h"

namespace warpbeam::lowering {
namespace {

using namespace clang;

std::string file_name;  // empty: nobody asks
std::vector<std::string> lines;
llvm::StringMap<std::vector<std::string>> lines_of_kernels;

void write() {
  std::error_code failed;
  llvm::raw_fd_ostream out(file_name, failed);
  if (failed) return;
  for (const std::string& line : lines) out << line << '\n';
}

// `[4 x [5 x i32]]`: elements of 4 bytes, dimensions 4 and 5.
std::string shape(llvm::Type* type, const llvm::DataLayout& layout) {
  std::string dimensions;
  for (; type->isArrayTy(); type = type->getArrayElementType()) dimensions += ";" + std::to_string(type->getArrayNumElements());
  const uint64_t bytes = type->isSized() ? layout.getTypeAllocSize(type).getFixedValue() : 0;
  return bytes ? std::to_string(bytes) + dimensions : "";
}

// Kernels of internal linkage get an end that tells files apart, where these are linked.
llvm::StringRef written_name(llvm::StringRef name) {
  for (const char* end : {"__intern__", "__static__"})
    if (const size_t at = name.rfind(end); at != llvm::StringRef::npos && at) return name.substr(0, at);
  return name;
}

class DeviceFacts : public ASTConsumer {
 public:
  explicit DeviceFacts(ASTContext& context) : context_(context), names_(context) {}
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group)
      each_function(d, [&](FunctionDecl* f) {
        // The other is how the driver spells kernels that device code launches.
        if (f->hasAttr<CUDAGlobalAttr>() || f->hasAttr<NVPTXKernelAttr>()) kernels_.push_back(f);
      });
    return true;
  }
  void HandleTranslationUnit(ASTContext&) override {
    for (const FunctionDecl* f : std::exchange(kernels_, {})) {  // of the prelude more may come, while they are looked at
      if (f->isInvalidDecl()) continue;
      const std::string name = names_.getName(f);
      std::vector<std::string>& known = lines_of_kernels[name];
      known.clear();
      for (const std::string& gaps : gaps_of(*f, context_)) known.push_back("~%;" + gaps);
      if (const auto line = last_early_return(*f, context_.getSourceManager())) known.push_back("^%;" + std::to_string(*line));
    }
  }

 private:
  ASTContext& context_;
  ASTNameGenerator names_;
  std::vector<FunctionDecl*> kernels_;
};

class HostFacts : public ASTConsumer {
 public:
  explicit HostFacts(ASTContext& context) : context_(context) {}
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) each_function(d, [&](FunctionDecl* f) { functions_.push_back(f); });
    return true;
  }
  void HandleTranslationUnit(ASTContext&) override {
    DroppedResults dropped(context_);
    for (const FunctionDecl* f : std::exchange(functions_, {})) dropped.look_at(*f);
    for (const std::string& place : dropped.places()) add_fact("!unused\t" + place);
    write();
  }

 private:
  ASTContext& context_;
  std::vector<FunctionDecl*> functions_;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    if (file_name.empty()) return std::make_unique<ASTConsumer>();
    if (!compiler.getLangOpts().CUDAIsDevice) return std::make_unique<HostFacts>(compiler.getASTContext());
    watch_warnings_of_unset_variables(compiler.getPreprocessor());
    return std::make_unique<DeviceFacts>(compiler.getASTContext());
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>& words) override {
    if (!words.empty()) file_name = words.front();
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> registered("warpbeam-facts", "writes what the checker wants to know to a file");

}  // namespace

void add_fact(const llvm::Twine& line) { lines.push_back(line.str()); }
void take_last_fact_back() { lines.pop_back(); }

void each_function(Decl* d, llvm::function_ref<void(FunctionDecl*)> what) {
  if (auto* f = llvm::dyn_cast<FunctionDecl>(d)) {
    if (f->doesThisDeclarationHaveABody() && !f->isDependentContext()) what(f);
  } else if (auto* friends = llvm::dyn_cast<FriendDecl>(d)) {
    if (Decl* one = friends->getFriendDecl()) each_function(one, what);
  } else if (llvm::isa<NamespaceDecl, LinkageSpecDecl, ExportDecl, CXXRecordDecl>(d)) {
    if (const auto* record = llvm::dyn_cast<CXXRecordDecl>(d); record && record->isDependentContext()) return;
    for (Decl* inner : llvm::cast<DeclContext>(d)->decls()) each_function(inner, what);
  }
}

llvm::PreservedAnalyses WriteFacts::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (file_name.empty()) return llvm::PreservedAnalyses::all();
  for (const llvm::GlobalVariable& v : module.globals()) {
    if (!v.getAddressSpace()) continue;
    if (const std::string s = shape(v.getValueType(), module.getDataLayout()); !s.empty()) add_fact(v.getName() + ";" + s);
  }
  for (const llvm::Function& f : module) {
    auto known = lines_of_kernels.find(f.getName());
    if (known == lines_of_kernels.end()) known = lines_of_kernels.find(written_name(f.getName()));
    if (known == lines_of_kernels.end()) continue;
    for (const std::string& line : known->second) add_fact(line.substr(0, 1) + f.getName() + line.substr(2));
  }
  write();
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
