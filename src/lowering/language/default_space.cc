// Kernels where functions without a word are the device's (NVRTC's --device-as-default-execution-space).
//
// clang's pragma for that makes every function one of host and device, kernels too, which clang takes until such a kernel is declared
// again or a template of kernels gets an explicit specialisation ("'device' and 'global' attributes are not compatible"). So from
// `__attribute__((global))` to the body or the semicolon the pragma does not hold.
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaCUDA.h>
#include <clang/Sema/SemaConsumer.h>

#include <utility>

namespace warpbeam::lowering {
namespace {

using namespace clang;

class Consumer : public SemaConsumer {
 public:
  void InitializeSema(Sema& sema) override {
    sema_ = &sema;
    sema.getPreprocessor().setTokenWatcher([this](const Token& token) { look_at(token); });
  }
  void ForgetSema() override { sema_ = nullptr; }

 private:
  void look_at(const Token& token) {
    if (!sema_) return;
    // What stands before this token has been declared: the parser reads one token ahead.
    if (std::exchange(ended_, false))
      for (; held_; --held_) sema_->CUDA().PushForceHostDevice();
    if (held_ && token.isOneOf(tok::l_brace, tok::semi)) ended_ = true;
    if (token.is(tok::kw___attribute)) seen_ = 1;
    else if (token.is(tok::l_paren) && (seen_ == 1 || seen_ == 2)) ++seen_;
    else if (std::exchange(seen_, 0) == 3 && token.is(tok::identifier) && token.getIdentifierInfo()->isStr("global"))
      while (sema_->CUDA().PopForceHostDevice()) ++held_;
  }

  Sema* sema_ = nullptr;
  unsigned held_ = 0;  // the pragma's depth, kept while a kernel is declared
  int seen_ = 0;       // how much of `__attribute__((` has just come
  bool ended_ = false;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    if (!compiler.getLangOpts().CUDAIsDevice) return std::make_unique<ASTConsumer>();
    return std::make_unique<Consumer>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> registered("warpbeam-default-space", "kernels are kernels where all functions are the device's");

}  // namespace
}  // namespace warpbeam::lowering
