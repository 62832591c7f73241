// The vendor's assembler, where there is one, and our parser: what each says to a statement.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "fuzz/statements.h"

namespace warpbeam::isa_test {

// Empty where there is none on the PATH.
std::string find_ptxas();

// So many statements make a kernel that ptxas can still compile, and so many where most are refused: it starts slowly.
constexpr size_t kToCompile = 300, kToRefuse = 3000;

// The lines of a kernel's body that ptxas refuses, with what it says. A line is one of `lines`, which has no line break.
std::map<size_t, std::string> refused_by_ptxas(const std::string& ptxas, const std::vector<std::string>& lines, int sm,
                                               size_t at_once = kToCompile);
// What we say to a line; empty: accepted.
std::string our_refusal(const std::string& line);

std::vector<std::string> lines_of(const std::vector<fuzz::Statement>& statements);

}  // namespace warpbeam::isa_test
