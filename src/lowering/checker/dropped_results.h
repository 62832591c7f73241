#pragma once
#include <set>
#include <string>

namespace clang {
class ASTContext;
class Expr;
class FunctionDecl;
}  // namespace clang

namespace warpbeam::lowering {

class DroppedResults {
 public:
  explicit DroppedResults(clang::ASTContext& context);
  void look_at(const clang::FunctionDecl& f);
  const std::set<std::string>& places() const { return places_; }  // file.cu:12

 private:
  void judge(const clang::Expr& statement);
  clang::ASTContext& context_;
  std::set<std::string> places_;
};

}  // namespace warpbeam::lowering
