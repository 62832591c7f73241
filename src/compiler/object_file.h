// What the driver reads and changes in host objects: symbols, the section with device code, and static archives.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpbeam::compiler {

inline constexpr std::string_view kWholeProgramSection = ".nv_fatbin";
inline constexpr std::string_view kRelocatableSection = "__nv_relfatbin";

struct ObjectFile {
  std::string name;  // path, or archive(member)
  std::set<std::string> defined;
  std::set<std::string> undefined;  // strong references only
  std::string device_code;          // contents of the relocatable device code section; empty if there is none
};

// Reads a 64-bit x86 ELF object.
Result<ObjectFile> read_object(std::string_view bytes, std::string name);

// True for an archive, GNU or thin.
bool is_archive(std::string_view bytes);

// The ELF members of an archive; `path` finds the members of a thin one.
Result<std::vector<ObjectFile>> read_archive(std::string_view bytes, const std::string& path);

// Gives a section of an object new contents. Relocations against it stay valid: only its place in the file changes.
// False when there is no such section.
Result<bool> replace_section(std::string& object, std::string_view section, std::string_view contents);

// Replaces the id in clang's names for relocatable device code (…__nv_<16 digits>), which is a hash of the path as it
// was written, by one that two directories cannot share. `id` has 16 digits.
void rename_unit(std::string& object, std::string_view id);

Result<std::string> read_file(const std::string& path);
Result<void> write_file(const std::string& path, std::string_view contents);

}  // namespace warpbeam::compiler
