#include "compiler/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/cccl.h"

namespace warpbeam::compiler {

namespace {

// Without terminal colours.
std::string plain(std::string_view line) {
  std::string text;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\033') {
      while (at < line.size() && line[at] != 'm' && line[at] != 'K') ++at;
    } else {
      text += line[at];
    }
  }
  return text;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool is_error(std::string_view line) { return contains(line, ": error: ") || contains(line, ": fatal error: "); }
bool is_warning(std::string_view line) { return contains(line, ": warning: ") || contains(line, ": remark: "); }

// "In file included from a.h:3:" lines come before the message they belong to.
bool is_introduction(std::string_view line) {
  return line.starts_with("In file included from ") || line.starts_with("In module ") || line.starts_with("                 from ");
}

// "1 error generated when compiling for sm_90."
bool is_closing(std::string_view line) {
  return !line.empty() && line[0] >= '0' && line[0] <= '9' && contains(line, " generated") &&
         (contains(line, " error") || contains(line, " warning"));
}

bool is_full_disk(std::string_view error) { return contains(error, "No space left on device"); }

bool names_libraries(std::string_view error) {
  return contains(error, "namespace 'thrust") || contains(error, "namespace 'cub") || contains(error, "namespace 'cuda");
}

// "no member named 'tabulate' in namespace 'thrust'", "no template named …", "'cub/device/device_topk.cuh' file not found".
bool wants_newer_libraries(std::string_view error) {
  const bool lacks_name = contains(error, "no member named") || contains(error, "no template named") || contains(error, "no type named");
  const bool of_them = names_libraries(error);
  const bool lacks_file = contains(error, "'cuda/") && contains(error, "file not found");
  if (!(lacks_name && of_them) && !lacks_file) return false;
  const char* named = std::getenv("WARPBEAM_CCCL");
  return (!named || !*named) && fetched_cccl().empty();
}

// What can be done: who has a header that toolkits bring and this does not, for example.
std::string help_with(std::string_view error) {
  if (is_full_disk(error)) return "note: there is no room for temporary files; TMPDIR names another folder for them\n";
  constexpr std::pair<std::string_view, std::string_view> kPackages[] = {
      {"'CL/", "opencl-headers (and ocl-icd-opencl-dev for -lOpenCL)"},
      {"'thrust/", "libthrust-dev (--cccl names another version's folder)"},
      {"'cub/", "libcub-dev (--cccl names another version's folder)"}};
  if (wants_newer_libraries(error))
    return "note: unless --cccl names others, CUB and Thrust are Debian's 1.17 and libcu++ is Warpbeam's own; ./warpbeam ... --cccl fetched takes those of today\n";
  if (!contains(error, "file not found")) return {};
  for (const auto& [header, package] : kPackages)
    if (contains(error, header)) return fmt::format("note: Debian has it in the package {}\n", package);
  return {};
}

// What a clang that crashes prints: a request to tell its makers, its stack, and where it was, as "1.\ta.cu:3:1: …".
bool is_crash(std::string_view line) { return line.starts_with("PLEASE submit a bug report"); }
bool is_stack(std::string_view line) {
  const size_t number = line.find_first_not_of(' ');
  return line.starts_with("Stack dump") || line.starts_with("0.\t") || (number != line.npos && line[number] == '#');
}
bool is_whereabouts(std::string_view line) { return line.size() > 2 && line[0] > '0' && line[0] <= '9' && line.substr(1, 2) == ".\t"; }

// A message with what introduces it, its lines of source and its notes.
struct Complaint {
  std::string text, what;  // "a.cu:3: error: …", without the column; empty without a place
  bool error = false;
};

std::vector<Complaint> complaints_in(std::string_view text) {
  std::vector<Complaint> out;
  std::string introduction;  // of a message or of a note
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const std::string bare = plain(line);
    if (is_closing(bare)) continue;
    if (is_introduction(bare)) {
      introduction += line;
      continue;
    }
    if (is_error(bare) || is_warning(bare)) {
      const size_t column = bare.find(": "), line_end = bare.rfind(':', column - 1);  // "clang++: error: …" has no place
      out.push_back({{}, line_end == bare.npos ? std::string() : bare.substr(0, line_end) + bare.substr(column), is_error(bare)});
    }
    if (out.empty()) out.emplace_back();
    out.back().text.append(introduction).append(line);
    introduction.clear();
  }
  return out;
}

// clang forgets an error in a function together with its callers. What then is nowhere, or cannot be made, tells of nothing.
bool follows(std::string_view error) { return contains(error, "and defined nowhere") || contains(error, "cannot be made of its template"); }

}  // namespace

std::string still_wrong(std::string_view first, std::string_view last) {
  const auto before = complaints_in(first);
  std::string warnings, errors;
  for (const Complaint& m : before)
    if (!m.error) warnings += m.text;
  for (const Complaint& m : complaints_in(last)) {
    if (!m.error || m.what.empty() || follows(m.what)) continue;
    const auto same = std::ranges::find(before, m.what, &Complaint::what);
    errors += same == before.end() ? m.text : same->text;
  }
  return errors.empty() ? std::string(first) : warnings + errors;
}

bool speaks_of_libraries(std::string_view messages, std::string_view folder) {
  return contains(messages, folder) || names_libraries(messages) || contains(messages, "'thrust/") || contains(messages, "'cub/") ||
         contains(messages, "'cuda/");
}

std::string Diagnostics::fresh(std::string_view text) {
  std::string shown;
  std::string introduction;
  bool showing = true, crashed = false, full = false;
  while (!text.empty()) {
    auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    std::string bare = plain(line);
    if (is_closing(bare)) continue;
    if (is_crash(bare)) {
      crashed = true;
      showing = !full && seen_.insert(bare).second;  // clang asks for a report of full disks, too
      if (showing) shown += "the compiler crashed; it was at\n", ++errors_;
      continue;
    }
    if (crashed && (is_stack(bare) || is_whereabouts(bare))) {
      if (showing && is_whereabouts(bare)) shown += "  " + bare.substr(3) + "\n";
      continue;
    }
    if (is_introduction(bare)) {
      introduction += line;
      introduction += '\n';
      continue;
    }
    bool error = is_error(bare);
    full = full || is_full_disk(bare);
    if (error || is_warning(bare)) {
      showing = seen_.insert(bare).second;
      if (showing) ++(error ? errors_ : warnings_);
    } else if (!introduction.empty()) {
      // Notes have introductions too.
      if (showing) shown += introduction;
      introduction.clear();
    }
    if (showing) {
      shown += introduction;
      shown += line;
      shown += '\n';
      if (error || is_full_disk(bare)) shown += help_with(bare);
    }
    introduction.clear();
  }
  return shown;
}

std::string Diagnostics::closing() const {
  auto counted = [](int number, std::string_view what) { return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s"); };
  if (errors_ && warnings_) return fmt::format("{} and {} generated.\n", counted(warnings_, "warning"), counted(errors_, "error"));
  if (errors_) return fmt::format("{} generated.\n", counted(errors_, "error"));
  if (warnings_) return fmt::format("{} generated.\n", counted(warnings_, "warning"));
  return {};
}

}  // namespace warpbeam::compiler
