// Module-level declarations.
#include "ptx/parser.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace warpbeam::ptx {
namespace {

constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 40;
constexpr size_t kMaxDiagnostics = 100;
constexpr int64_t kMaxFamily = 100000;     // of `.param .b32 p<n>`
constexpr uint64_t kMaxFamilies = 200000;  // all of a text

Linkage linkage_named(std::string_view word) {
  if (word == ".extern") return Linkage::Extern;
  if (word == ".visible") return Linkage::Visible;
  if (word == ".weak") return Linkage::Weak;
  if (word == ".common") return Linkage::Common;
  return Linkage::Internal;
}

// The number of "90" or "90a" where there is such an architecture, or 0. Newer ones than any device here are known too:
// whether a device can run a text is asked elsewhere.
int architecture_of(std::string_view name) {
  static constexpr int kKnown[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                                   70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
  int number = 0;
  const auto [rest, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (status != std::errc() || std::ranges::find(kKnown, number) == std::end(kKnown)) return 0;
  const std::string_view suffix = name.substr(static_cast<size_t>(rest - name.data()));
  const bool fits = suffix.empty() || (suffix == "a" && number >= 90) || (suffix == "f" && number >= 100);
  return fits ? number : 0;
}

}  // namespace

std::string describe(const Diagnostic& d) { return fmt::format("line {}, column {}: {}", d.at.line, d.at.column, d.message); }

Parser::Parser(std::string_view text) : lex_(text) {}

ParseResult parse(std::string_view text) {
  ParseResult result = Parser(text).run();
  result.module->text = text;
  return result;
}

ParseResult Parser::run() {
  scopes_.emplace_back();
  parse_module();
  return {std::move(module_), std::move(diagnostics_)};
}

void Parser::fail(Position at, std::string message) {
  // One report for one place: what follows an error on the same spot is its echo.
  if (!diagnostics_.empty() && diagnostics_.back().at.line == at.line && diagnostics_.back().at.column == at.column) return;
  if (diagnostics_.size() < kMaxDiagnostics) diagnostics_.push_back({at, std::move(message), false});
}

bool Parser::expect(char c) {
  if (accept(c)) return true;
  const Lexeme& l = lex_.peek();
  if (l.token == Token::End) error(l.at, "the text ends where '{}' is needed", c);
  else error(l.at, "'{}' is needed before '{}'", c, l.text);
  return false;
}

void Parser::recover() {
  while (lex_.peek().token != Token::End && !lex_.peek().is(';') && !lex_.peek().is('}') && !lex_.peek().is('{')) lex_.take();
  accept(';');
}

bool Parser::is_space_word(std::string_view word, isa::Space& space) {
  using isa::Space;
  if (word == ".global") space = Space::Global;
  else if (word == ".shared" || word == ".shared::cta") space = Space::Shared;
  else if (word == ".const") space = Space::Const;
  else if (word == ".local") space = Space::Local;
  else if (word == ".param") space = Space::Param;
  else return false;
  return true;
}

void Parser::parse_module() {
  bool saw_version = false;
  while (lex_.peek().token != Token::End && diagnostics_.size() < kMaxDiagnostics) {
    const Lexeme l = lex_.peek();
    if (l.is(".version")) {
      saw_version = true;
      parse_version();
    } else if (l.token == Token::Dotted) {
      if (!saw_version) {
        error(l.at, "a PTX text begins with .version");
        return;
      }
      parse_directive();
    } else if (l.is(';')) {
      lex_.take();
    } else {
      if (saw_version) error(l.at, "a directive is needed before '{}'", l.text.substr(0, 40));
      else error(l.at, "this is not PTX: a text begins with .version, not '{}'", l.text.substr(0, 40));
      return;
    }
  }
  if (!saw_version && diagnostics_.empty()) error({1, 1}, "this is not PTX: the text is empty");
}

void Parser::parse_version() {
  lex_.take();
  Lexeme l = lex_.take();
  int major = 0, minor = 0;
  size_t dot = l.text.find('.');
  for (size_t i = 0; i < l.text.size(); ++i) {
    char c = l.text[i];
    if (i == dot) continue;
    if (c < '0' || c > '9' || l.text.size() > 5) {
      error(l.at, "'{}' is not a PTX version", l.text);
      return;
    }
    int& part = dot == std::string_view::npos || i < dot ? major : minor;
    part = part * 10 + (c - '0');
  }
  module_->version = major * 10 + minor;
  if (l.token != Token::Number) error(l.at, "a version number is needed after .version");
  if (major < 1 || major > 9) {
    error(l.at, "PTX version {}.{} is not supported", major, minor);
    if (!diagnostics_.empty()) diagnostics_.back().unsupported_version = true;
  }
}

void Parser::parse_target() {
  lex_.take();
  do {
    Lexeme l = lex_.take();
    if (l.text.starts_with("sm_") || l.text.starts_with("compute_")) {
      module_->target_sm = architecture_of(l.text.substr(l.text.find('_') + 1));
      if (module_->target_sm == 0) error(l.at, "'{}' is not a target this machine knows", l.text);
      module_->target_text = std::string(l.text);
    } else if (l.text == "debug") {
      module_->debug = true;
    } else if (l.text != "texmode_independent" && l.text != "texmode_unified" && l.text != "map_f64_to_f32") {
      error(l.at, "'{}' is not a target", l.text);
    }
  } while (accept(','));
}

void Parser::parse_file() {
  lex_.take();
  Lexeme number = lex_.take();
  Lexeme name = lex_.take();
  auto c = number.token == Token::Number ? parse_number(number) : std::nullopt;
  if (!c || c->bits > 100000 || name.token != Token::String) return error(number.at, "a number and a quoted name are needed after .file");
  if (module_->files.size() <= c->bits) module_->files.resize(c->bits + 1);
  module_->files[c->bits] = std::string(name.text);
  if (accept(',')) {
    lex_.take();
    if (accept(',')) lex_.take();
  }  // time stamp and size
}

// `.section .debug_info { … }`: DWARF data is not read; .loc has what messages need.
void Parser::skip_section() {
  lex_.take();
  while (lex_.peek().token != Token::End && !lex_.peek().is('{')) lex_.take();
  int depth = 0;
  do {
    Lexeme l = lex_.take();
    if (l.is('{')) ++depth;
    if (l.is('}')) --depth;
    if (l.token == Token::End) return error(l.at, "the text ends inside a .section");
  } while (depth > 0);
}

namespace {

// "warpbeam inlined 5 3 20<tab>_Z4pullf<tab>/home/me/nbody.cu": see src/lowering/checker/inlined_calls.cc.
void note_inlined_call(Module& module, std::string_view text) {
  constexpr std::string_view kWords = "warpbeam inlined ";
  constexpr unsigned kMost = 0xffff;
  unsigned number = 0, outer = 0, line = 0;
  const size_t name = text.find('\t'), file = text.find('\t', name + 1);
  if (!text.starts_with(kWords) || name == text.npos || file == text.npos) return;
  if (std::sscanf(std::string(text.substr(kWords.size(), name - kWords.size())).c_str(), "%u %u %u", &number, &outer, &line) != 3) return;
  if (number == 0 || number > kMost || outer >= number) return;
  if (module.inlined.size() <= number) module.inlined.resize(number + 1);
  module.inlined[number] = {std::string(text.substr(name + 1, file - name - 1)), std::string(text.substr(file + 1)), line, outer};
}

}  // namespace

// Texts that others do not know say nothing to them.
std::string_view Parser::parse_pragma() {
  std::string_view said;
  lex_.take();
  while (lex_.peek().token == Token::String || lex_.peek().is(',')) {
    const Lexeme l = lex_.take();
    if (l.token != Token::String) continue;
    said = l.text;
    note_inlined_call(*module_, l.text);
  }
  expect(';');
  return said;
}

void Parser::parse_directive() {
  Lexeme l = lex_.peek();
  if (l.is(".target")) return parse_target();
  if (l.is(".address_size")) {
    lex_.take();
    Lexeme n = lex_.take();
    if (n.text == "32") module_->address64 = false;
    else if (n.text != "64") error(n.at, "'{}' is not an address size", n.text);
    return;
  }
  if (l.is(".file")) return parse_file();
  if (l.is(".section")) return skip_section();
  if (l.is(".loc")) return parse_loc();
  if (l.is(".pragma")) {
    parse_pragma();
    return;
  }
  if (l.is(".alias")) {
    lex_.take();
    const Lexeme name = lex_.take();
    if (name.token != Token::Word || !expect(',')) return lex_.skip_past(';');
    const Lexeme target = lex_.take();
    module_->aliases.push_back({std::string(name.text), std::string(target.text), name.at});
    expect(';');
    return;
  }
  Linkage linkage = Linkage::Internal;
  while (linkage_named(lex_.peek().text) != Linkage::Internal) linkage = linkage_named(lex_.take().text);
  l = lex_.peek();
  isa::Space space;
  if (l.is(".func") || l.is(".entry")) {
    lex_.take();
    return parse_function(l.text == ".entry", linkage);
  }
  if (is_space_word(l.text, space)) {
    lex_.take();
    return parse_variables(space, linkage, module_->variables, false);
  }
  if (l.is(".tex")) {  // `.tex .u32 name;`: how texture references were declared first
    lex_.take();
    lex_.take();
    return parse_variables(isa::Space::Global, linkage, module_->variables, false, Reference::Texture);
  }
  error(l.at, "'{}' is not a directive", l.text);
  lex_.take();
  recover();
}

bool Parser::parse_variable_head(Variable& v) {
  int vec = 1;
  return parse_variable_words(v, vec) && parse_variable_name(v, vec);
}

bool Parser::parse_variable_words(Variable& v, int& vec) {
  v.align = 0;
  v.at = lex_.peek().at;
  vec = 1;
  for (;;) {
    Lexeme l = lex_.peek();
    if (l.is(".align")) {
      lex_.take();
      auto n = parse_integer_expression(11);
      if (!n || *n < 1 || *n > (1u << 31) || (*n & (*n - 1))) {
        error(l.at, "an alignment is a power of two up to 2^31");
        return false;
      }
      v.align = static_cast<uint32_t>(*n);
    } else if (l.is(".attribute")) {
      lex_.take();
      if (!expect('(')) return false;
      while (!lex_.peek().is(')') && lex_.peek().token != Token::End) {
        Lexeme a = lex_.take();
        if (a.is(".managed")) v.managed = true;
      }
      if (!expect(')')) return false;
    } else if (l.is(".ptr")) {
      lex_.take();
      isa::Space ignored;
      if (is_space_word(lex_.peek().text, ignored)) lex_.take();
    } else if (l.is(".v2") || l.is(".v4") || l.is(".v8")) {
      lex_.take();
      vec = l.text[2] - '0';
    } else if (l.token == Token::Dotted && isa::is_storable(isa::type_named(l.text))) {
      lex_.take();
      v.type = isa::type_named(l.text);
    } else if (l.is(".texref") || l.is(".samplerref") || l.is(".surfref")) {
      lex_.take();
      v.reference = l.is(".texref") ? Reference::Texture : l.is(".surfref") ? Reference::Surface : Reference::Sampler;
    } else {
      break;
    }
  }
  if (v.reference != Reference::None) v.type = isa::Type::B64;
  if (v.type == isa::Type::None || v.type == isa::Type::Pred) {
    error(lex_.peek().at, "a type is needed for a variable");
    return false;
  }
  return true;
}

bool Parser::parse_variable_name(Variable& v, int vec) {
  Lexeme name = lex_.peek();
  if (name.token != Token::Word) {
    error(name.at, "a name is needed before '{}'", name.text);
    return false;
  }
  lex_.take();
  v.name = std::string(name.text);
  v.at = name.at;
  const uint64_t element = static_cast<uint64_t>(isa::bytes_of(v.type)) * vec;
  if (!v.align) v.align = static_cast<uint32_t>(element > 16 ? 16 : element);
  v.size = element;
  v.element = static_cast<uint32_t>(element);
  while (accept('[')) {
    if (accept(']')) {
      v.unsized = true;
      continue;
    }
    auto n = parse_integer_expression();
    if (!n) return false;
    if (*n < 0 || (*n > 0 && v.size > kMaxVariableBytes / static_cast<uint64_t>(*n))) {
      error(name.at, "the size of '{}' is out of range", v.name);
      return false;
    }
    v.size *= static_cast<uint64_t>(*n);
    if (!expect(']')) return false;
  }
  if (v.unsized) v.size = 0;
  // `.v2 .f32` elements are initialised one scalar at a time; the type stays the scalar.
  return true;
}

void Parser::parse_variables(isa::Space space, Linkage linkage, std::vector<Variable>& into, bool in_body, Reference reference) {
  // A bank `.const[3]` is an old spelling of the one constant space.
  if (space == isa::Space::Const && accept('[')) {
    parse_integer_expression();
    expect(']');
  }
  Variable common;  // `.global .u32 a, b;`: what stands before the first name holds for all
  common.space = space;
  common.linkage = linkage;
  common.reference = reference;
  int vec = 1;
  bool first = true;
  do {
    if ((first || lex_.peek().token == Token::Dotted) && !parse_variable_words(common, vec)) return recover();
    if (first && accept(';')) return;  // a type and no names
    first = false;
    Variable v = common;
    if (!parse_variable_name(v, vec)) return recover();
    // `.param .b32 p<10>` declares a family.
    if (accept('<')) {
      auto n = parse_integer_expression(11);
      if (n && (*n < 0 || *n > kMaxFamily || (total_families_ += static_cast<uint64_t>(*n)) > kMaxFamilies)) {
        error(v.at, "too many variables");
        return recover();
      }
      if (!n || !expect('>')) return recover();
      for (int64_t k = 0; k < *n; ++k) {
        Variable copy = v;
        copy.name = v.name + std::to_string(k);
        if (in_body) {
          std::string unique = fmt::format("{}.{}", copy.name, unique_++);
          scopes_.back().variables[copy.name] = unique;
          copy.name = unique;
        }
        into.push_back(std::move(copy));
      }
      continue;
    }
    if (accept('=')) {
      if (v.reference != Reference::None) parse_reference_state();
      else parse_initialiser(v);
    }
    if (v.unsized && linkage != Linkage::Extern && space != isa::Space::Param) {
      error(v.at, "'{}' needs a size", v.name);
    }
    if (in_body) {
      std::string unique = fmt::format("{}.{}", v.name, unique_++);
      scopes_.back().variables[v.name] = unique;
      v.name = unique;
    }
    into.push_back(std::move(v));
  } while (accept(','));
  expect(';');
}

std::vector<Variable> Parser::parse_params(isa::Space) {
  std::vector<Variable> params;
  if (!expect('(')) return params;
  while (!lex_.peek().is(')') && lex_.peek().token != Token::End) {
    Variable v;
    v.space = isa::Space::Param;
    const Lexeme l = lex_.peek();
    if (l.is(".param") || l.is(".reg")) lex_.take();
    else {
      error(l.at, "a parameter begins with .param");
      break;
    }
    if (!parse_variable_head(v)) break;
    if (l.is(".reg")) v.space = isa::Space::Generic;  // marks a register parameter
    params.push_back(std::move(v));
    if (!accept(',')) break;
  }
  if (!lex_.peek().is(')')) {
    expect(')');
    while (lex_.peek().token != Token::End && !lex_.peek().is(')') && !lex_.peek().is('{') && !lex_.peek().is(';')) lex_.take();
  }
  accept(')');
  return params;
}

void Parser::parse_function_directives(Function& f) {
  for (;;) {
    Lexeme l = lex_.peek();
    if (l.token != Token::Dotted) return;
    auto triple = [&](std::array<uint32_t, 3>& out) {
      out = {1, 1, 1};
      for (int k = 0; k < 3; ++k) {
        auto n = parse_integer_expression(11);
        if (!n) return;
        out[k] = static_cast<uint32_t>(*n);
        if (!accept(',')) return;
      }
    };
    if (l.is(".maxntid") || l.is(".reqntid")) {
      lex_.take();
      f.required_ntid = f.required_ntid || l.text == ".reqntid";
      triple(f.max_ntid);
    } else if (l.is(".minnctapersm") || l.is(".maxnctapersm")) {
      lex_.take();
      if (auto n = parse_integer_expression(11)) f.min_ctas = static_cast<uint32_t>(*n);
    } else if (l.is(".maxnreg")) {
      lex_.take();
      if (auto n = parse_integer_expression(11)) f.max_regs = static_cast<uint32_t>(*n);
    } else if (l.is(".noreturn")) {
      lex_.take();
      f.noreturn = true;
    } else if (l.is(".pragma")) {
      parse_pragma();
    } else if (l.is(".explicitcluster") || l.is(".blocksareclusters")) {
      lex_.take();
    } else if (l.is(".reqnctapercluster")) {
      lex_.take();
      triple(f.cluster);
    } else if (l.is(".maxclusterrank")) {
      lex_.take();
      // Our headers write __cluster_dims__ as a bound that no cluster reaches, with ten bits for each dimension.
      constexpr uint32_t kDimensions = 0x40000000;
      if (auto n = parse_integer_expression(11); n && *n >= kDimensions) {
        const auto bits = static_cast<uint32_t>(*n);
        f.cluster = {bits >> 20 & 1023, bits >> 10 & 1023, bits & 1023};
      }
    } else if (l.is(".attribute")) {
      lex_.take();
      if (expect('(')) lex_.skip_past(')');
    } else if (l.is(".unique") || l.is(".abi_preserve") || l.is(".abi_preserve_control")) {
      lex_.take();
      if (lex_.peek().token == Token::Number) lex_.take();
    } else {
      error(l.at, "'{}' is not a directive of a function", l.text);
      return recover();
    }
  }
}

void Parser::parse_function(bool entry, Linkage linkage) {
  Function f;
  f.entry = entry;
  f.linkage = linkage;
  // A second `.attribute(.unified(…))` may stand before the name.
  if (accept(".attribute") && expect('(')) lex_.skip_past(')');
  if (!entry && lex_.peek().is('(')) f.returns = parse_params(isa::Space::Param);
  Lexeme name = lex_.peek();
  if (name.token != Token::Word) {
    error(name.at, "a function name is needed before '{}'", name.text);
    return recover();
  }
  lex_.take();
  f.name = std::string(name.text);
  f.at = name.at;
  if (lex_.peek().is('(')) f.params = parse_params(isa::Space::Param);
  parse_function_directives(f);
  if (accept(';')) {
    module_->functions.push_back(std::move(f));
    return;
  }
  if (!lex_.peek().is('{')) {
    error(lex_.peek().at, "a body or ';' is needed after the head of '{}'", f.name);
    return recover();
  }
  f.has_body = true;
  parse_body(f);
  module_->functions.push_back(std::move(f));
}

}  // namespace warpbeam::ptx
