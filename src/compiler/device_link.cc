#include "compiler/device_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/demangle.h"
#include "compiler/object_file.h"
#include "compiler/ptx_text.h"
#include "fatbin/contents.h"

namespace warpbeam::compiler {

namespace {

constexpr std::string_view kRegistration = "__cudaRegisterLinkedBinary";
constexpr std::string_view kWrapper = "__fatbinwrap";  // clang's public name for an object's device code

struct Part {
  ObjectFile object;
  DeviceSymbols device;
  bool linked = false;  // given as an object, or pulled from an archive
};

Result<Part> read_part(ObjectFile object, bool linked) {
  Part part{std::move(object), {}, linked};
  if (part.object.device_code.empty()) return part;
  auto containers = fatbin::read_section(part.object.device_code);
  if (!containers) return Error{1, fmt::format("{}: {}", part.object.name, containers.error().message)};
  for (const auto& container : *containers) {
    if (!container.machine_code.empty())
      return Error{1, fmt::format("{} holds machine code; compile it with warpbeam nvcc", part.object.name)};
    for (const auto& ptx : container.ptx) {
      auto text = fatbin::text_of(ptx);
      if (!text) return Error{1, fmt::format("{}: {}", part.object.name, text.error().message)};
      // Every architecture declares the same names; the union does no harm where they differ.
      auto symbols = device_symbols(*text);
      part.device.defined.merge(symbols.defined);
      part.device.undefined.merge(symbols.undefined);
    }
  }
  return part;
}

bool meets(const std::set<std::string>& offered, const std::set<std::string>& needed) {
  for (const auto& name : offered)
    if (needed.contains(name)) return true;
  return false;
}

// What is asked for and not yet there.
struct Needs {
  std::set<std::string> defined;
  std::set<std::string> undefined;
  void add(const std::set<std::string>& more_defined, const std::set<std::string>& more_undefined) {
    for (const auto& name : more_defined) {
      defined.insert(name);
      undefined.erase(name);
    }
    for (const auto& name : more_undefined)
      if (!defined.contains(name)) undefined.insert(name);
  }
};

// The machine's own functions, printf and the like, have names of C.
std::string missing_functions(const std::vector<Part>& parts, const std::set<std::string>& undefined) {
  std::string lines;
  for (const auto& name : undefined) {
    if (!name.starts_with("_Z")) continue;
    const auto part = std::ranges::find_if(parts, [&](const Part& p) { return p.linked && p.device.undefined.contains(name); });
    if (part != parts.end())
      lines += fmt::format("{}device code of {} uses {}, which none of the files defines", lines.empty() ? "" : "\n",
                           part->object.name.substr(part->object.name.rfind('/') + 1), demangled(name));
  }
  return lines;
}

}  // namespace

Result<DeviceLink> plan_device_link(const std::vector<std::string>& files) {
  std::vector<Part> parts;
  for (const auto& file : files) {
    auto bytes = read_file(file);
    if (!bytes) return bytes.error();
    std::vector<ObjectFile> objects;
    bool archive = is_archive(*bytes);
    if (archive) {
      auto members = read_archive(*bytes, file);
      if (!members) return members.error();
      objects = std::move(*members);
    } else if (file.ends_with(".a") && (bytes->find("INPUT") != bytes->npos || bytes->find("GROUP") != bytes->npos)) {
      continue;  // a script for the host's linker, as libm.a is: libraries of the system and of this toolkit
    } else {
      auto object = read_object(*bytes, file);
      if (!object) return object.error();
      objects.push_back(std::move(*object));
    }
    for (auto& object : objects) {
      auto part = read_part(std::move(object), !archive);
      if (!part) return part.error();
      parts.push_back(std::move(*part));
    }
  }

  // Follow the host linker's way through the archives, and the device code's beside it, until nothing more is pulled.
  Needs host, device;
  host.undefined.insert("main");
  for (auto& part : parts)
    if (part.linked) {
      host.add(part.object.defined, part.object.undefined);
      device.add(part.device.defined, part.device.undefined);
    }
  DeviceLink link;
  for (bool pulled = true; pulled;) {
    pulled = false;
    for (auto& part : parts) {
      if (part.linked) continue;
      if (!meets(part.device.defined, device.undefined) && !meets(part.object.defined, host.undefined)) continue;
      part.linked = pulled = true;
      host.add(part.object.defined, part.object.undefined);
      device.add(part.device.defined, part.device.undefined);
    }
  }
  if (auto wrong = missing_functions(parts, device.undefined); !wrong.empty()) return Error{1, wrong};
  std::set<std::string> registrations, defined;
  for (const auto& part : parts) {
    for (const auto& name : part.object.undefined)
      if (name.starts_with(kRegistration)) registrations.insert(name);
    if (!part.linked) continue;
    for (const auto& name : part.object.defined) {
      if (name.starts_with(kRegistration)) defined.insert(name);
      // Who is given as an object here may lie in an archive beside this link's object later, as with CMake's.
      if (name.starts_with(kWrapper)) link.required.push_back(name);
    }
  }
  for (const auto& name : registrations)
    if (!defined.contains(name)) link.registrations.push_back(name);
  return link;
}

std::string registration_assembly(const DeviceLink& link) {
  std::string text = "\t.text\n";
  for (const auto& name : link.registrations) text += fmt::format("\t.globl {0}\n\t.hidden {0}\n\t.type {0}, @function\n{0}:\n", name);
  // The arguments are already where the runtime's function wants them, so this is a jump.
  if (!link.registrations.empty()) text += "\tjmp __warpbeamRegisterLinked@PLT\n";
  if (!link.required.empty()) text += "\t.section .data.rel.warpbeam,\"aw\",@progbits\n";
  for (const auto& name : link.required) text += fmt::format("\t.quad {}\n", name);
  return text + "\t.section .note.GNU-stack,\"\",@progbits\n";
}

}  // namespace warpbeam::compiler
