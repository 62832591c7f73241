// Casts to pointers of wider types.
//
// `reinterpret_cast<float4*>(&tile[row][4 * k])[0]` is how courses load and store 16 bytes at once. To nvcc, as to the language,
// the pointer means an aligned float4. clang's code generator remembers through the cast how the array itself was declared and
// makes four accesses of it, which cost a GPU four times as much and hide that the place may not be aligned. A comma in front of
// what is cast makes it forget: (float4*)((void)0, &tile[row][4 * k]). The array itself begins where such a type may.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include "lowering/language/walk.h"

namespace warpbeam::lowering {
namespace {

using namespace clang;

class Casts : public Walk {
 public:
  explicit Casts(ASTContext& context) : context_(context) {}

  // What templates make is handed over by itself.
  bool passes_templates_by() const override { return true; }

  bool meets(ExplicitCastExpr* cast) override {
    Expr* const what = cast->getSubExpr();
    if (cast->isTypeDependent() || what->isTypeDependent() || what->isValueDependent()) return true;
    if (cast->getCastKind() == CK_BitCast && cast->getType()->isPointerType() && what->getType()->isPointerType()) {
      if (is_wider(cast->getType()->getPointeeType(), what->getType()->getPointeeType()))
        cast->setSubExpr(forgetting(what, cast->getType()->getPointeeType()));
    } else if (cast->getCastKind() == CK_LValueBitCast && is_wider(cast->getType(), what->getType()) && !what->refersToBitField()) {
      // reinterpret_cast<float4&>(x) becomes reinterpret_cast<float4&>(*(float4*)((void)0, &x)).
      const QualType from = context_.getPointerType(what->getType()), to = context_.getPointerType(cast->getType());
      const SourceLocation at = what->getExprLoc();
      Expr* address = UnaryOperator::Create(context_, what, UO_AddrOf, from, VK_PRValue, OK_Ordinary, at, false, {});
      Expr* wider = CStyleCastExpr::Create(context_, to, VK_PRValue, CK_BitCast, forgetting(address, cast->getType()), nullptr, {},
                                           context_.getTrivialTypeSourceInfo(to), at, at);
      cast->setSubExpr(UnaryOperator::Create(context_, wider, UO_Deref, cast->getType(), VK_LValue, OK_Ordinary, at, false, {}));
      cast->setCastKind(CK_NoOp);
    }
    return true;
  }

 private:
  bool is_wider(QualType to, QualType from) const {
    if (to->isDependentType() || to->isIncompleteType() || from->isIncompleteType() || to->isFunctionType() || from->isFunctionType())
      return false;
    return context_.getTypeAlign(to) > context_.getTypeAlign(from);
  }
  // The variable that holds what is pointed to, if it is one with a place of its own.
  static VarDecl* variable_of(Expr* e) {
    for (;;) {
      e = e->IgnoreParenImpCasts();
      if (auto* address = llvm::dyn_cast<UnaryOperator>(e); address && address->getOpcode() == UO_AddrOf) {
        e = address->getSubExpr();
      } else if (auto* element = llvm::dyn_cast<ArraySubscriptExpr>(e);
                 element && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType()) {
        e = element->getBase();
      } else if (auto* member = llvm::dyn_cast<MemberExpr>(e); member && !member->isArrow()) {
        e = member->getBase();
      } else {
        auto* name = llvm::dyn_cast<DeclRefExpr>(e);
        auto* variable = name ? llvm::dyn_cast<VarDecl>(name->getDecl()) : nullptr;
        return variable && !llvm::isa<ParmVarDecl>(variable) && !variable->getType()->isReferenceType() &&
                       !variable->getType()->isPointerType()
                   ? variable
                   : nullptr;
      }
    }
  }
  Expr* number(uint64_t n, SourceLocation at) const {
    return IntegerLiteral::Create(context_, llvm::APInt(context_.getIntWidth(context_.IntTy), n), context_.IntTy, at);
  }
  Expr* forgetting(Expr* what, QualType to) const {
    if (const auto* done = llvm::dyn_cast<BinaryOperator>(what); done && done->getOpcode() == BO_Comma) return what;
    const SourceLocation at = what->getExprLoc();
    if (VarDecl* variable = variable_of(what))
      if (const unsigned bits = context_.getTypeAlign(to); context_.toBits(context_.getDeclAlign(variable)) < bits)
        variable->addAttr(AlignedAttr::CreateImplicit(context_, true, number(bits / 8, at), {}));
    Expr* nothing = CStyleCastExpr::Create(context_, context_.VoidTy, VK_PRValue, CK_ToVoid, number(0, at), nullptr, {},
                                           context_.getTrivialTypeSourceInfo(context_.VoidTy), at, at);
    return BinaryOperator::Create(context_, nothing, what, BO_Comma, what->getType(), VK_PRValue, OK_Ordinary, at, {});
  }

  ASTContext& context_;
};

// Sees each function before the code generator does.
class Consumer : public ASTConsumer {
 public:
  explicit Consumer(ASTContext& context) : casts_(context) {}
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) casts_.over(d);
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl* f) override { casts_.over(f); }

 private:
  Casts casts_;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    if (!compiler.getLangOpts().CUDAIsDevice) return std::make_unique<ASTConsumer>();
    return std::make_unique<Consumer>(compiler.getASTContext());
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> registered("warpbeam-casts", "casts to pointers of wider types are to aligned ones");

}  // namespace
}  // namespace warpbeam::lowering
