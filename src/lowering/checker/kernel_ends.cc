// For the checker: where the threads of kernels may end.
//
// `if (i >= n) return;` and `if (i < n) { … }` are the same to the machine, and not to CUDA: a thread that has returned need not
// come to a barrier or a shuffle any more, and one that goes around the rest must not miss it. Only the source tells the two
// apart.
#include "lowering/checker/kernel_ends.h"

#include <clang/AST/Decl.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/SmallVector.h>

#include <algorithm>
#include <utility>

namespace warpbeam::lowering {
namespace {

using namespace clang;

// Whatever may end a thread, or lead to the end past everything else, but for returns.
bool ends_anywhere(const Stmt& s) {
  if (llvm::isa<GotoStmt, IndirectGotoStmt>(s)) return true;
  if (const auto* assembly = llvm::dyn_cast<GCCAsmStmt>(&s)) return assembly->getAsmString()->getString().contains("exit");
  const auto* call = llvm::dyn_cast<CallExpr>(&s);
  const FunctionDecl* const f = call ? call->getDirectCallee() : nullptr;
  return f && f->getDeclName().isIdentifier() && f->getName() == "exit";  // cuda::ptx's
}

}  // namespace

std::optional<unsigned> last_early_return(const FunctionDecl& kernel, const SourceManager& sources) {
  const auto* const body = llvm::dyn_cast_or_null<CompoundStmt>(kernel.getBody());
  if (!body) return std::nullopt;
  const Stmt* const last = body->body_empty() ? nullptr : body->body_back();
  unsigned last_line = 0;
  llvm::SmallVector<std::pair<const Stmt*, bool>, 32> open{{body, false}};  // and whether it is within a loop
  while (!open.empty()) {
    const auto [s, in_loop] = open.pop_back_val();
    if (ends_anywhere(*s)) return std::nullopt;
    if (llvm::isa<LambdaExpr>(s)) continue;  // what it returns from is itself
    if (const auto* ret = llvm::dyn_cast<ReturnStmt>(s); ret && s != last) {
      const PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(ret->getReturnLoc()));
      if (in_loop || place.isInvalid()) return std::nullopt;  // what stands behind it may have come before it
      last_line = std::max(last_line, place.getLine());
    }
    const bool loop = in_loop || llvm::isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(s);
    for (const Stmt* child : s->children())
      if (child) open.push_back({child, loop});
  }
  return last_line;
}

}  // namespace warpbeam::lowering
