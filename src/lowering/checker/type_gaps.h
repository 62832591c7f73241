#pragma once
#include <set>
#include <string>

namespace clang {
class ASTContext;
class FunctionDecl;
}  // namespace clang

namespace warpbeam::lowering {

// Of the structures that a kernel's parameters lead to those that have gaps, `bytes;from-to;from-to;…` each; `to` is the byte
// behind a gap. Of a union's members one is enough.
std::set<std::string> gaps_of(const clang::FunctionDecl& kernel, const clang::ASTContext& context);

}  // namespace warpbeam::lowering
