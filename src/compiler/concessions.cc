#include "compiler/concessions.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "compiler/diagnostics.h"
#include "compiler/launch_marks.h"
#include "compiler/mended_text.h"
#include "compiler/object_file.h"
#include "compiler/prelude_cache.h"
#include "compiler/respell.h"
#include "compiler/source_scan.h"
#include "compiler/split.h"
#include "compiler/stray_unrolls.h"

namespace warpbeam::compiler {
namespace {

using Words = std::vector<std::string>;

struct Concession {
  std::string_view first, second;  // both are in the messages
  std::string_view without;        // what then goes to the compiler
};
constexpr Concession kConcessions[] = {
    // Toolkit 12 dropped the templates `texture` and `surface`, so that younger programs may use the names for their
    // own.
    {"as different kind of symbol", "texture_reference.h", "-DWARPBEAM_NO_TEXTURE_REFERENCES"},
    // Our alignas may stand behind `__shared__`, but cannot take an expression with `>`.
    {"error:", "expanded from macro 'alignas'", "-DWARPBEAM_PLAIN_ALIGNAS"},
    // nvcc chooses among overloads without asking for which side they are; here that choice waits until the function is
    // made.
    {"error:", "ambiguous", "-fgpu-defer-diag"},
    {"error:", "no matching ", "-fgpu-defer-diag"},
};

bool says(const Outcome& outcome, std::string_view what) { return outcome.messages.find(what) != std::string::npos; }

bool has_word(const Command& command, std::string_view word) { return std::ranges::find(command.words, word) != command.words.end(); }

std::optional<Command> conceding(const Command& command, const Outcome& outcome) {
  for (const Concession& c : kConcessions) {
    if (!says(outcome, c.first) || !says(outcome, c.second)) continue;
    if (has_word(command, c.without)) continue;
    Command again = command;
    again.words.insert(again.words.begin() + 1, std::string(c.without));
    return again;
  }
  return std::nullopt;
}

// The words in quotes behind `before`, each once.
Words quoted_after(std::string_view messages, std::string_view before) {
  Words out;
  for (size_t at = messages.find(before); at != messages.npos; at = messages.find(before, at + 1)) {
    const size_t begin = at + before.size(), end = messages.find('\'', begin);
    const std::string word(messages.substr(begin, end - begin));
    if (std::ranges::find(out, word) == out.end()) out.push_back(word);
  }
  return out;
}

// `static uint64_t __rdtsc() { … }`: g++ has no function of that name where no header was asked for it, clang always.
std::optional<Command> with_own_builtins(const Command& command, const Outcome& outcome) {
  if (!says(outcome, "is a builtin with type")) return std::nullopt;
  Command again = command;
  for (const std::string& name : quoted_after(outcome.messages, "note: '"))
    if (says(outcome, "note: '" + name + "' is a builtin with type"))
      again.words.insert(again.words.begin() + 1, fmt::format("-D{0}=__warpbeam_own_{0}", name));
  return again;
}

// What only GCC can be asked for in optimising changes no meaning: `-Xcompiler -fipa-pta`.
std::optional<Command> without_options_of_gcc(const Command& command, const Outcome& outcome) {
  Command again = command;
  for (const char* before : {"unknown argument: '", "unknown argument '"})
    for (const std::string& option : quoted_after(outcome.messages, before))
      if (option.starts_with("-f") || option == "-export-dynamic") std::erase(again.words, option);
  if (again.words.size() == command.words.size()) return std::nullopt;
  return again;
}

// A compilation and the preprocessed text that it may read instead of its source.
struct Preprocessed {
  std::string text_file, text;
  Command compile;  // of text_file
};

// Where the word stands after which a compilation names its source.
auto place_of_source(const Command& command) {
  const auto compile = std::ranges::find(command.words, "-S");
  return compile != command.words.end() ? compile : std::ranges::find(command.words, "-c");
}

// Beside the output, unless that is where a text stands already; empty for what is no compilation.
std::string text_file_of(const Command& command) {
  const auto compile = place_of_source(command), output = std::ranges::find(command.words, "-o");
  if (compile == command.words.end() || output == command.words.end()) return {};
  return output[1] + (compile[1] == output[1] + ".cui" ? ".2.cui" : ".cui");
}

std::optional<Preprocessed> preprocessed(const Command& command) {
  const auto compile = place_of_source(command), output = std::ranges::find(command.words, "-o");
  Preprocessed out;
  out.text_file = text_file_of(command);
  if (out.text_file.empty()) return std::nullopt;

  Command preprocess = command;
  preprocess.words[compile - command.words.begin()] = "-E";
  preprocess.words[output - command.words.begin() + 1] = out.text_file;
  if (run_commands({&preprocess, 1}, 1)[0].status != 0) return std::nullopt;
  auto text = read_file(out.text_file);
  if (!text) return std::nullopt;
  out.text = with_traits_apart(*text);

  for (auto word = command.words.begin(); word != command.words.end(); ++word) {
    constexpr std::string_view kDone[] = {"-MD", "-MMD", "-MP"}, kDoneWithValue[] = {"-include", "-MF", "-MT", "-D", "-U"};
    if (std::ranges::find(kDoneWithValue, *word) != std::end(kDoneWithValue)) ++word;
    else if (!word->starts_with("-D") && !word->starts_with("-U") && std::ranges::find(kDone, *word) == std::end(kDone))
      out.compile.words.push_back(word == compile + 1 ? out.text_file : *word);
  }
  return out;
}

// In a header, in a macro or around a comment a launch's marks may stand apart too (launch_marks.h).
std::optional<Command> with_joined_marks(const Command& command, const Outcome& outcome) {
  if (!says(outcome, "expected expression")) return std::nullopt;
  auto source = preprocessed(command);
  if (!source) return std::nullopt;
  auto joined = join_launch_marks(source->text);
  if (!joined || !write_file(source->text_file, *joined)) return std::nullopt;
  return std::move(source->compile);
}

// So may, in a header or where a macro brings them, the operands and the percent signs of an asm statement (respell.h).
std::optional<Command> with_respelled_text(const Command& command, const Outcome& outcome) {
  if (!says(outcome, "expected ')'") && !says(outcome, "invalid % escape")) return std::nullopt;
  auto source = preprocessed(command);
  if (!source) return std::nullopt;
  auto respelled = respell(source->text);
  if (!respelled || !write_file(source->text_file, *respelled)) return std::nullopt;
  return std::move(source->compile);
}

// In a header or behind a macro too a pragma may stand before something else than a loop (stray_unrolls.h).
std::optional<Command> with_loops_unrolled_alone(const Command& command, const Outcome& outcome) {
  // The messages name the pragma or show its line.
  if (!says(outcome, "pragma unroll") && !says(outcome, "pragma nounroll")) return std::nullopt;
  auto source = preprocessed(command);
  if (!source) return std::nullopt;
  auto others = drop_all_stray_unrolls(source->text);
  if (!others || !write_file(source->text_file, *others)) return std::nullopt;
  return std::move(source->compile);
}

// `#define UNROLL #pragma unroll`: nvcc's compilers read a preprocessed text, in which what the macro brings is a pragma.
std::optional<Command> with_pragmas_of_macros(const Command& command, const Outcome& outcome) {
  if (!says(outcome, "#pragma") || !says(outcome, "expanded from macro")) return std::nullopt;
  auto source = preprocessed(command);
  if (!source) return std::nullopt;
  return std::move(source->compile);
}

// nvcc lets a function for both sides call one that only the host has, or launch kernels where the device cannot, and
// leaves that out on the device; clang does not. Where it stands in a branch that is never taken (Thrust and CUB have
// many), setting the branch aside helps.
std::optional<Command> without_dead_branches(const Command& command, const Outcome& outcome) {
  const bool calls = says(outcome, "reference to __host__ function") || says(outcome, "reference to __global__ function");
  if (!calls || !says(outcome, "in __host__ __device__ function")) return std::nullopt;
  auto source = preprocessed(command);
  if (!source) return std::nullopt;
  auto shorter = set_dead_branches_aside(source->text);
  if (!shorter || !write_file(source->text_file, *shorter)) return std::nullopt;
  return std::move(source->compile);
}

// On the device nvcc reads a template when it is used, so that one may name what only the host's headers have.
std::optional<Command> without_unused_templates(const Command& command, const Outcome& outcome) {
  constexpr std::string_view kLater = "-fdelayed-template-parsing";
  if (!has_word(command, "--cuda-device-only") || has_word(command, kLater)) return std::nullopt;
  if (!names_other_errors(outcome.messages)) return std::nullopt;
  Command again = command;
  again.words.insert(again.words.begin() + 1, std::string(kLater));
  return again;
}

std::optional<Command> with_mended_text(const Command& command, const Outcome& outcome) {
  if (!can_be_mended(outcome.messages)) return std::nullopt;
  auto source = preprocessed(command);
  if (!source || !write_file(source->text_file, with_own_lines(source->text, source->text_file))) return std::nullopt;
  Command look = source->compile;
  for (auto& word : look.words)
    if (word == "-S" || word == "-c") word = "-fsyntax-only";
  const auto output = std::ranges::find(look.words, "-o");
  look.words.erase(output, output + 2);
  for (const char* word : {"-w", "-Wsystem-headers", "-ferror-limit=0", "-fno-color-diagnostics", "-fno-caret-diagnostics",
                           "-fdiagnostics-print-source-range-info", "-ftemplate-backtrace-limit=1"})
    look.words.push_back(word);
  const auto messages = run_commands({&look, 1}, 1)[0].messages;

  auto mended = mend_text(source->text, source->text_file, messages, !has_word(command, "-O0"));
  if (!mended || !write_file(source->text_file, *mended)) return std::nullopt;
  return std::move(source->compile);
}

// Before anything is deferred, which makes clang choose otherwise in the standard library's templates.
std::optional<Command> with_lambdas_for_both(const Command& command, const Outcome& outcome) {
  if (!says(outcome, "(lambda at ") || !has_word(command, "--cuda-host-only")) return std::nullopt;
  return with_mended_text(command, outcome);
}

// The end of the statement at i: a block, or what ends with a semicolon. Nothing if it begins with a word that may
// bring several (for, if, do …).
std::optional<size_t> past_statement(std::string_view s, size_t i) {
  size_t word = i;
  while (word < s.size() && is_name(s[word])) ++word;
  constexpr std::string_view kNested[] = {"for",  "while", "if",      "do",   "switch", "try",
                                          "else", "case",  "default", "goto", "break",  "continue"};
  if (std::ranges::find(kNested, s.substr(i, word - i)) != std::end(kNested)) return std::nullopt;
  const bool block = i < s.size() && s[i] == '{';
  bool line_start = false;
  int depth = 0;
  while (i < s.size()) {
    if (const size_t end = past_opaque(s, i, line_start); end != i) {
      line_start = s[i] == '/' && line_start;
      i = end;
      continue;
    }
    const char c = s[i++];
    if (c == '\n') line_start = true;
    if (!std::isspace(static_cast<unsigned char>(c))) line_start = false;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && (--depth < 0 || (depth == 0 && block))) return depth < 0 ? std::nullopt : std::optional(i);
    if (c == ';' && depth == 0) return i;
  }
  return std::nullopt;
}

bool returns_list(std::string_view s) {
  constexpr std::string_view kReturn = "return";
  for (size_t at = s.find(kReturn); at != s.npos; at = s.find(kReturn, at + 1)) {
    if (at && is_name(s[at - 1])) continue;
    const size_t next = s.find_first_not_of(" \t\n", at + kReturn.size());
    if (next != s.npos && s[next] == '{') return true;
  }
  return false;
}

// What a list in braces becomes, of which nobody knows the type.
constexpr std::string_view kAnyType =
    "struct __warpbeam_any { template <class... T> __attribute__((host)) __attribute__((device)) __warpbeam_any(T&&...) "
    "{} };\n";

// A pragma in the source, not a comment about it, asks for no warnings of host calls.
bool asks_for_silence(std::string_view s) {
  bool line_start = true;
  for (size_t i = 0; i < s.size();) {
    const size_t end = past_opaque(s, i, line_start);
    const std::string_view piece = s.substr(i, std::max(end, i + 1) - i);
    const bool pragma = end != i && (piece.starts_with('#') || s.substr(0, i).ends_with("_Pragma("));
    if (pragma && (piece.find("exec_check_disable") != piece.npos || piece.find("hd_warning_disable") != piece.npos)) return true;
    if (end == i && s[i] == '\n') line_start = true;
    else if (!piece.starts_with("/*") && !std::isspace(static_cast<unsigned char>(s[i]))) line_start = false;
    i += piece.size();
  }
  return false;
}

// nvcc warns where a function for both sides calls one of the host, unless the source asks it not to. Headers have many
// such functions, and their users cannot change them.
std::string warnings_of_host_calls(const Command& command, std::string_view messages) {
  if (has_word(command, "-w")) return {};
  std::string out;
  for (size_t at = 0; at < messages.size();) {
    const size_t end = std::min(messages.find('\n', at), messages.size());
    std::string line(messages.substr(at, end - at));
    at = end + 1;
    const size_t error = line.find("error: ");
    if (error == line.npos || line.find("reference to __host__ function") == line.npos ||
        line.find("in __host__ __device__ function") == line.npos)
      continue;
    const auto source = std::ranges::find_if(
        command.words, [&](const std::string& word) { return word.ends_with(".cu") && line.find(word + ":") < error; });
    if (source == command.words.end()) continue;
    if (const auto text = read_file(*source); !text || asks_for_silence(*text)) continue;
    line.replace(error, 5, "warning");
    out.append(line).append("; on the device the call is a trap\n");
  }
  return out;
}

}  // namespace

std::vector<Outcome> run_passes(const std::vector<Command>& commands, int at_once) {
  const auto first = run_with_kept_prelude(commands, at_once);
  auto outcomes = first;
  auto latest = commands;
  // A mistake of the program's is one on both sides: there is no point in reading the templates later. Where device
  // code alone is made (-ptx) nobody knows, and a first mend may have made the host accept what it refused.
  auto host_refuses = [&] {
    bool looks = false, accepts = false;
    for (size_t at = 0; at < commands.size(); ++at) {
      if (!has_word(commands[at], "--cuda-host-only")) continue;
      looks = true;
      accepts = accepts || outcomes[at].status == 0 || !names_other_errors(first[at].messages);
    }
    return looks && !accepts;
  };
  // Each may bring to light what another can mend.
  constexpr std::optional<Command> (*kMends[])(const Command&, const Outcome&) = {without_options_of_gcc,
                                                                                  with_own_builtins,
                                                                                  with_lambdas_for_both,
                                                                                  conceding,
                                                                                  conceding,
                                                                                  with_joined_marks,
                                                                                  with_respelled_text,
                                                                                  with_pragmas_of_macros,
                                                                                  with_loops_unrolled_alone,
                                                                                  without_unused_templates,
                                                                                  without_dead_branches,
                                                                                  with_mended_text,
                                                                                  with_mended_text,
                                                                                  with_mended_text};
  for (auto mend : kMends) {
    if (mend == without_unused_templates && host_refuses()) continue;
    std::vector<Command> again;
    std::vector<size_t> places;
    for (size_t at = 0; at < outcomes.size(); ++at) {
      if (interrupted() || outcomes[at].status == 0) continue;
      auto other = mend(latest[at], outcomes[at]);
      if (!other) continue;
      again.push_back(std::move(*other));
      places.push_back(at);
    }
    if (again.empty()) continue;
    auto next = run_commands(again, at_once);
    for (size_t k = 0; k < next.size(); ++k) {
      std::string warnings;
      if (mend == with_mended_text && next[k].status == 0)
        warnings = warnings_of_host_calls(commands[places[k]], outcomes[places[k]].messages);
      outcomes[places[k]] = std::move(next[k]);
      outcomes[places[k]].messages.insert(0, warnings);
      latest[places[k]] = std::move(again[k]);
    }
  }
  // The texts stand in the way where the output is in a directory of the user's.
  for (size_t at = 0; at < outcomes.size(); ++at) {
    if (first[at].status == 0) continue;
    const auto source = place_of_source(commands[at]), output = std::ranges::find(commands[at].words, "-o");
    if (source == commands[at].words.end() || output == commands[at].words.end()) continue;
    for (const char* end : {".cui", ".2.cui"})
      if (const std::string text_file = output[1] + end; source[1] != text_file) unlink(text_file.c_str());
  }
  for (size_t at = 0; at < outcomes.size(); ++at) {
    if (outcomes[at].status == 0) continue;
    std::string messages = still_wrong(first[at].messages, outcomes[at].messages);
    outcomes[at] = first[at];
    outcomes[at].messages = std::move(messages);
  }
  return outcomes;
}

std::optional<std::string> set_dead_branches_aside(std::string_view s) {
  std::optional<std::string> out;
  size_t copied = 0;
  bool line_start = true, lists = false;
  for (size_t i = 0; i < s.size();) {
    if (const size_t end = past_opaque(s, i, line_start); end != i) {
      line_start = s[i] == '/' && line_start;
      i = end;
      continue;
    }
    if (s[i] == '\n') line_start = true;
    if (!std::isspace(static_cast<unsigned char>(s[i]))) line_start = false;
    if (!is_name(s[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < s.size() && is_name(s[i])) ++i;
    if (s.substr(begin, i - begin) != "if") continue;
    size_t at = i;
    auto space = [&] {
      while (at < s.size() && std::isspace(static_cast<unsigned char>(s[at]))) ++at;
    };
    auto mark = [&](std::string_view what) {
      space();
      if (!s.substr(at).starts_with(what)) return false;
      at += what.size();
      return true;
    };
    if (!mark("(") || !(mark("0") || mark("false")) || !mark(")")) continue;
    space();
    const auto end = past_statement(s, at);
    if (!end) continue;
    if (!out) out.emplace();
    const std::string_view branch = s.substr(at, *end - at);
    out->append(s.substr(copied, at - copied)).append("{ auto __warpbeam_dead = [&] __attribute__((host)) () ");
    if (returns_list(branch)) {
      lists = true;
      out->append("-> __warpbeam_any ");
    }
    out->append("{ ").append(branch).append(" }; (void)__warpbeam_dead; }");
    copied = i = *end;
  }
  if (out) out->append(s.substr(copied));
  if (lists) out->insert(0, kAnyType);
  return out;
}

}  // namespace warpbeam::compiler
