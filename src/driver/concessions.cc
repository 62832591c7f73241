#include "driver/concessions.h"

#include <algorithm>

#include "driver/object_file.h"
#include "driver/source_scan.h"
#include "driver/split.h"

namespace warpbeam::driver {
namespace {

using Words = std::vector<std::string>;

struct Concession {
  std::string_view first, second;  // both are in the messages
  std::string_view without;        // what then goes to the compiler
};
constexpr Concession kConcessions[] = {
    // Toolkit 12 dropped the templates `texture` and `surface`, so that younger programs may use the names for their own.
    {"as different kind of symbol", "texture_reference.h", "-DWARPBEAM_NO_TEXTURE_REFERENCES"},
    // Our alignas may stand behind `__shared__`, but cannot take an expression with `>`.
    {"error:", "expanded from macro 'alignas'", "-DWARPBEAM_PLAIN_ALIGNAS"},
};

bool says(const Outcome& outcome, std::string_view what) { return outcome.messages.find(what) != std::string::npos; }

std::optional<Command> conceding(const Command& command, const Outcome& outcome) {
  for (const Concession& c : kConcessions) {
    if (!says(outcome, c.first) || !says(outcome, c.second)) continue;
    Command again = command;
    again.words.insert(again.words.begin() + 1, std::string(c.without));
    return again;
  }
  return std::nullopt;
}

// nvcc lets a function for both sides call one that only the host has, and leaves the call out on the device; clang does
// not. Where the call stands in a branch that is never taken (Thrust and CUB have many), setting the branch aside helps.
std::optional<Command> without_dead_branches(const Command& command, const Outcome& outcome) {
  if (!says(outcome, "reference to __host__ function") || !says(outcome, "in __host__ __device__ function")) return std::nullopt;
  const auto compile = std::ranges::find(command.words, "-S"), output = std::ranges::find(command.words, "-o");
  if (compile == command.words.end() || output == command.words.end()) return std::nullopt;
  const std::string source = compile[1], text_file = output[1] + ".cui";

  Command preprocess = command;
  preprocess.words[compile - command.words.begin()] = "-E";
  preprocess.words[output - command.words.begin() + 1] = text_file;
  if (run_commands({&preprocess, 1}, 1)[0].status != 0) return std::nullopt;
  auto text = read_file(text_file);
  if (!text) return std::nullopt;
  auto shorter = set_dead_branches_aside(*text);
  if (!shorter || !write_file(text_file, *shorter)) return std::nullopt;

  Command again = command;
  again.words.clear();
  for (auto word = command.words.begin(); word != command.words.end(); ++word) {
    constexpr std::string_view kDone[] = {"-MD", "-MMD", "-MP"}, kDoneWithValue[] = {"-include", "-MF", "-MT", "-D", "-U"};
    if (std::ranges::find(kDoneWithValue, *word) != std::end(kDoneWithValue))
      ++word;
    else if (!word->starts_with("-D") && !word->starts_with("-U") && std::ranges::find(kDone, *word) == std::end(kDone))
      again.words.push_back(word == compile + 1 ? text_file : *word);
  }
  return again;
}

// The end of the statement at i: a block, or what ends with a semicolon. Nothing if it begins with a word that may bring
// several (for, if, do …).
std::optional<size_t> past_statement(std::string_view s, size_t i) {
  size_t word = i;
  while (word < s.size() && is_name(s[word])) ++word;
  constexpr std::string_view kNested[] = {"for", "while", "if", "do", "switch", "try", "else", "case", "default", "goto", "break", "continue"};
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

}  // namespace

std::vector<Outcome> run_passes(const std::vector<Command>& commands, int at_once) {
  auto outcomes = run_commands(commands, at_once);
  for (auto mend : {conceding, without_dead_branches}) {
    std::vector<Command> again;
    std::vector<size_t> places;
    for (size_t at = 0; at < outcomes.size(); ++at) {
      if (interrupted() || outcomes[at].status == 0) continue;
      auto other = mend(commands[at], outcomes[at]);
      if (!other) continue;
      again.push_back(std::move(*other));
      places.push_back(at);
    }
    if (again.empty()) continue;
    auto second = run_commands(again, at_once);
    for (size_t k = 0; k < second.size(); ++k) outcomes[places[k]] = std::move(second[k]);
  }
  return outcomes;
}

std::optional<std::string> set_dead_branches_aside(std::string_view s) {
  std::optional<std::string> out;
  size_t copied = 0;
  bool line_start = true;
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
    out->append(s.substr(copied, at - copied)).append("{ auto __warpbeam_dead = [&] __attribute__((host)) () { ");
    out->append(s.substr(at, *end - at)).append(" }; (void)__warpbeam_dead; }");
    copied = i = *end;
  }
  if (out) out->append(s.substr(copied));
  return out;
}

}  // namespace warpbeam::driver
