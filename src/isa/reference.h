// The instruction table as text: for `warpbeam isa` and docs/isa.md.
#pragma once
#include <string>
#include <string_view>

namespace warpbeam::isa {

// All opcodes for an empty name; the forms of one opcode (modifiers behind it are ignored: "ld.global" is ld); the names
// nearest to it when there is no such opcode.
std::string isa_reference(std::string_view name);

// docs/isa.md.
std::string isa_page();

}  // namespace warpbeam::isa
