// Statements of a function body.
#include <algorithm>
#include <bit>

#include "ptx/parser.h"

namespace warpbeam::ptx {
namespace {

constexpr int kMaxOperandDepth = 4;
constexpr size_t kMaxScopes = 256;

using isa::Type;

bool parse_selector(std::string_view text, Selector& out) {
  if (text.size() < 3 || text.size() > 6 || (text[1] != 'b' && text[1] != 'h')) return false;
  for (char c : text.substr(2)) {
    if (c < '0' || c > '7') return false;
    out.digits = static_cast<uint16_t>(out.digits << 4 | (c - '0'));
    ++out.count;
  }
  out.unit = text[1];
  return true;
}

// ptxas minds repeated types, rounding modes and cache words, not these.
bool is_said_again(const std::vector<std::string_view>& words, std::string_view word) {
  constexpr std::string_view kFlags[] = {".uni", ".sat", ".sync", ".approx", ".cc", ".NaN"};
  return std::ranges::find(kFlags, word) != std::end(kFlags) && std::ranges::find(words, word) != words.end();
}

}  // namespace

void Parser::parse_body(Function& f) {
  scope_parents_.clear();
  loc_file_ = loc_line_ = loc_column_ = 0;
  function_registers_ = 0;
  open_scope();
  for (auto* list : {&f.returns, &f.params})
    for (Variable& v : *list) scopes_.back().variables[v.name] = v.name;
  declare_register_params(f);
  expect('{');
  const size_t base = scopes_.size();
  bool closed = false;
  while (lex_.peek().token != Token::End && diagnostics_.size() < 100) {
    if (accept('}')) {
      if (scopes_.size() == base) {
        closed = true;
        break;
      }
      scopes_.pop_back();
      continue;
    }
    if (lex_.peek().is('{')) {
      if (scopes_.size() > kMaxScopes) {
        error(lex_.peek().at, "blocks nest too deeply");
        break;
      }
      lex_.take();
      open_scope();
      continue;
    }
    parse_statement(f);
  }
  if (!closed && diagnostics_.empty()) error(lex_.peek().at, "the text ends inside the body of '{}'", f.name);
  scopes_.resize(1);
  if (diagnostics_.empty()) resolve_labels(f);
  if (diagnostics_.empty()) lower_register_arguments(f);
}

void Parser::parse_loc() {
  lex_.take();
  Lexeme file = lex_.take(), line = lex_.take();
  auto f = file.token == Token::Number ? parse_number(file) : std::nullopt;
  auto n = line.token == Token::Number ? parse_number(line) : std::nullopt;
  if (!f || !n) return error(file.at, "file, line and column are needed after .loc");
  if (n->bits) {  // line 0 marks code that belongs to no line: it stays with the line before
    loc_file_ = static_cast<uint32_t>(f->bits);
    loc_line_ = static_cast<uint32_t>(n->bits);
  }
  const Lexeme column = lex_.peek();
  if (column.token == Token::Number) {
    lex_.take();
    const auto c = n->bits ? parse_number(column) : std::nullopt;
    if (c) loc_column_ = static_cast<uint32_t>(c->bits);
  }
  // `, function_name $L__info_string0, inlined_at 1 20 3`: where an inlined call came from is not kept.
  while (accept(',')) {
    Lexeme what = lex_.take();
    if (what.is("function_name")) {
      lex_.take();
      if (accept('+')) lex_.take();
    } else if (what.is("inlined_at")) {
      for (int k = 0; k < 3 && lex_.peek().token == Token::Number; ++k) lex_.take();
    } else {
      return error(what.at, "'{}' is not allowed in .loc", what.text);
    }
  }
}

void Parser::parse_label_declaration(Function& f, const Lexeme& label) {
  // name: .branchtargets a, b;   name: .callprototype (…) _ (…);   name: .calltargets f, g;
  const std::string key = scoped(scopes_.back().id, label.text);
  if (accept(".branchtargets")) {
    auto& targets = f.branch_targets[key];
    do targets.push_back(std::string(lex_.take().text));
    while (accept(','));
    expect(';');
  } else if (accept(".calltargets")) {
    do lex_.take();
    while (accept(','));
    expect(';');
  } else if (accept(".callprototype")) {
    Prototype p;
    if (lex_.peek().is('(')) p.returns = parse_params(isa::Space::Param);
    lex_.take();  // `_`
    if (lex_.peek().is('(')) p.params = parse_params(isa::Space::Param);
    parse_function_directives(f);  // .noreturn
    f.prototypes[key] = std::move(p);
    expect(';');
  }
}

void Parser::parse_statement(Function& f) {
  Lexeme l = lex_.peek();
  if (l.token == Token::Dotted) {
    isa::Space space;
    if (l.is(".reg")) {
      lex_.take();
      return parse_registers(f);
    }
    if (l.is(".loc")) return parse_loc();
    if (l.is(".file")) return parse_file();
    if (l.is(".pragma")) {
      if (parse_pragma() == "nounroll") f.nounroll.push_back(static_cast<uint32_t>(f.body.size()));
      return;
    }
    Linkage linkage = Linkage::Internal;
    if (l.is(".extern")) {
      linkage = Linkage::Extern;
      lex_.take();
      l = lex_.peek();
    }
    if (is_space_word(l.text, space)) {
      lex_.take();
      return parse_variables(space, linkage, linkage == Linkage::Extern ? module_->variables : f.locals, linkage != Linkage::Extern);
    }
    error(l.at, "'{}' is not a directive of a body", l.text);
    return recover();
  }
  if (accept(';')) return;
  if (accept('@')) {
    bool negated = accept('!');
    Lexeme name = lex_.take();
    auto reg = name.token == Token::Word ? find_register(std::string(name.text)) : std::nullopt;
    if (!reg || f.registers[*reg].type != Type::Pred) {
      error(name.at, "'{}' is not a predicate register", name.text);
      return recover();
    }
    return parse_instruction(f, true, negated, *reg);
  }
  return parse_instruction(f, false, false, -1);
}

// `mov.v2.u32 v, {0, 1}` moves one part after the other. GCC writes it.
void Parser::parse_vector_move(Function& f, Instruction&& i, std::vector<std::string_view> words) {
  words.erase(words.begin());
  auto form = isa::match_row("mov", words, 2);
  const auto parts = [](const Operand& o) { return o.kind == OperandKind::Vector ? o.list.size() : 0; };
  if (!form || i.operands.size() != 2 || parts(i.operands[0]) == 0 || parts(i.operands[0]) != parts(i.operands[1])) {
    error(i.at, "a move of vectors needs a vector register and as many parts");
    return recover();
  }
  if (!expect(';')) return recover();
  const std::vector<Operand>&to = i.operands[0].list, &from = i.operands[1].list;
  for (size_t k = 0; k < to.size(); ++k)
    for (size_t later = k + 1; later < from.size(); ++later)
      if (from[later].kind == OperandKind::Register && from[later].reg == to[k].reg)
        return error(i.at, "a move of vectors may not read a part that it has written");
  for (size_t k = 0; k < to.size(); ++k) {
    if (to[k].kind == OperandKind::Sink) continue;
    Instruction part = i;
    part.form = *form;
    part.operands = {to[k], from[k]};
    check_operands(f, part);
    f.body.push_back(std::move(part));
  }
}

void Parser::parse_instruction(Function& f, bool guarded, bool negated, int guard) {
  Lexeme op = lex_.take();
  if (op.token != Token::Word) {
    error(op.at, "an instruction is needed before '{}'", op.text);
    return recover();
  }
  if (!guarded && accept(':')) {
    if (lex_.peek().is(".branchtargets") || lex_.peek().is(".callprototype") || lex_.peek().is(".calltargets"))
      return parse_label_declaration(f, op);
    auto [it, fresh] = f.labels.emplace(scoped(scopes_.back().id, op.text), static_cast<uint32_t>(f.body.size()));
    if (!fresh) error(op.at, "label '{}' is defined twice", op.text);
    return;
  }
  Instruction i;
  i.at = op.at;
  i.guard = guarded ? guard : -1;
  i.guard_negated = negated;
  i.file = loc_file_;
  i.line = loc_line_;
  i.column = loc_column_;
  std::vector<std::string_view> words;
  while (lex_.peek().token == Token::Dotted && words.size() < 24) {
    const std::string_view word = lex_.take().text;
    if (!is_said_again(words, word)) words.push_back(word);
  }
  moves_vectors_ = op.text == "mov" && !words.empty() && (words.front() == ".v2" || words.front() == ".v4");
  if (op.text == "multimem") return write_out_multimem(f, i, words);
  if (!isa::known_opcode(op.text)) {
    std::string full(op.text);
    for (auto w : words) full += w;
    error(op.at, "instruction '{}' is not supported", full);
    return recover();
  }
  const size_t errors = diagnostics_.size();
  const bool image = op.text == "tex" || op.text == "tld4" || op.text == "txq" || op.text == "istypep" || op.text == "suld" ||
                     op.text == "sust" || op.text == "sured" || op.text == "suq";
  if (op.text == "call") {
    parse_call(f, i);
  } else if (op.text == "bra" || op.text == "brx") {
    parse_branch(f, i, op.text == "brx");
  } else if (image) {
    if (!parse_image_operands(f, i)) return recover();
  } else {
    while (!lex_.peek().is(';') && lex_.peek().token != Token::End) {
      Operand o;
      takes_sums_ = true;
      const bool read = parse_operand(f, o);
      takes_sums_ = false;
      if (!read) return recover();
      if (o.kind == OperandKind::Register && !o.address && o.pair == -1 && accept('+')) {  // mov.u64 %rd1, %rd2+8;
        const auto more = parse_integer_expression();
        if (!more) return recover();
        o.offset = *more;
        o.indexed = true;
      }
      i.operands.push_back(std::move(o));
      if (!accept(',')) break;
    }
  }
  if (diagnostics_.size() != errors) return recover();
  if (moves_vectors_) return parse_vector_move(f, std::move(i), words);
  if (op.text == "lop3" && write_out_lop3(f, i, words)) return expect(';') ? void() : recover();
  const bool free_form = op.text == "call" || op.text == "bra" || op.text == "brx";
  auto form = isa::match_row(op.text, words, free_form || image ? -1 : static_cast<int>(i.operands.size()));
  if (!form) {
    std::string full(op.text);
    for (auto w : words) full += w;
    error(op.at, "{}: {}", full, form.error().message);
    return recover();
  }
  i.form = *form;
  if (!expect(';')) return recover();
  settle_operands(f, i);
  if (image) check_image_operands(f, i);
  else if (!free_form) check_operands(f, i);
  if (f.body.size() > (8u << 20)) return error(op.at, "'{}' is too long", f.name);
  f.body.push_back(std::move(i));
}

bool Parser::name_operand(Function& f, const Lexeme& name, Operand& out) {
  std::string text(name.text);
  if (text == "_") {
    out.kind = OperandKind::Sink;
    return true;
  }
  if (auto reg = find_register(text)) {
    out.kind = OperandKind::Register;
    out.reg = *reg;
    if (lex_.peek().token == Token::Dotted && lex_.peek().glued) {
      const Lexeme l = lex_.take();
      if (!parse_selector(l.text, out.selector)) {
        error(l.at, "'{}' is not a vector register", text);
        return false;
      }
    }
    return true;
  }
  if (vector_operand(name, out)) return true;
  if (text == "WARP_SZ") {
    out.kind = OperandKind::Immediate;
    out.imm = 32;
    return true;
  }
  // GCC names parameters and their copies as if they were registers.
  const auto named = [&](const Variable& v) { return v.name == text; };
  const bool variable = std::ranges::any_of(f.params, named) || std::ranges::any_of(f.returns, named) ||
                        std::ranges::any_of(scopes_, [&](const auto& scope) { return scope.variables.contains(text); });
  if (text[0] == '%' && !variable) {
    isa::SpecialRef special = isa::special_named(text);
    if (!special.row) {
      error(name.at, "'{}' is not declared", text);
      return false;
    }
    out.kind = OperandKind::Special;
    out.special = special.row;
    out.component = special.index;
    if (special.row->vector) {
      Lexeme c = lex_.peek();
      static constexpr std::string_view kComponents = "xyzwrgba";
      size_t at = c.token == Token::Dotted && c.text.size() == 2 ? kComponents.find(c.text[1]) : std::string_view::npos;
      if (at == std::string_view::npos && moves_vectors_) {  // mov.v4.u32 {%r1, %r2, %r3, _}, %tid;
        Operand one = out;
        out.kind = OperandKind::Vector;
        for (one.component = 0; one.component < 4; ++one.component) out.list.push_back(one);
        return true;
      }
      if (at == std::string_view::npos) {
        error(name.at, "'{}' needs a component: .x, .y or .z", text);
        return false;
      }
      lex_.take();
      out.component = static_cast<uint8_t>(at % 4);
    }
    return true;
  }
  out.kind = OperandKind::Symbol;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto it = scope->variables.find(text); it != scope->variables.end()) {
      out.name = it->second;
      return true;
    }
  out.name = text;
  return true;
}

bool Parser::parse_address(Function& f, Operand& out) {
  out.address = true;
  const Lexeme l = lex_.peek();
  if (l.token == Token::Word) {
    lex_.take();
    if (!name_operand(f, l, out)) return false;
    if (out.kind != OperandKind::Register && out.kind != OperandKind::Symbol && out.kind != OperandKind::Immediate) {
      error(l.at, "'{}' cannot be an address", l.text);
      return false;
    }
    if (lex_.peek().is('+') || lex_.peek().is('-')) {
      bool minus = lex_.take().is('-');
      auto v = parse_integer_expression(minus ? 9 : 0);
      if (!v) return false;
      out.offset = minus ? static_cast<int64_t>(0 - static_cast<uint64_t>(*v)) : *v;
    }
  } else {
    auto v = parse_integer_expression();
    if (!v) return false;
    out.kind = OperandKind::Immediate;
    out.imm = static_cast<uint64_t>(*v);
  }
  if (accept(',')) {  // coordinates in a tensor
    if (!expect('{')) return false;
    do {
      Operand e;
      if (!parse_operand(f, e, kMaxOperandDepth)) return false;
      out.list.push_back(std::move(e));
    } while (accept(',') && out.list.size() < 8);
    if (!expect('}')) return false;
  }
  return expect(']');
}

// `table[3]` is the address of that element.
bool Parser::parse_index(const Function& f, const Lexeme& name, Operand& out) {
  const auto named = [&](const Variable& v) { return v.name == out.name; };
  const Variable* array = nullptr;
  for (const std::vector<Variable>* list :
       {&f.locals, &f.params, &f.returns, static_cast<const std::vector<Variable>*>(&module_->variables)})
    if (const auto v = std::ranges::find_if(*list, named); !array && v != list->end()) array = &*v;
  if (!array) {
    error(name.at, "'{}' is not declared", name.text);
    return false;
  }
  if (lex_.peek().token == Token::Word && lex_.peek().text != "WARP_SZ") {
    const Lexeme l = lex_.take();
    const auto reg = find_register(std::string(l.text));
    const int bits = reg ? isa::bits_of(f.registers[*reg].type) : 0;
    if (!takes_sums_ || !reg || isa::is_float(f.registers[*reg].type) || (bits != 16 && bits != 32 && bits != 64)) {
      error(l.at, "'{}' cannot be an index here: add it to the address of '{}'", l.text, name.text);
      return false;
    }
    Operand index;
    index.kind = OperandKind::Register;
    index.reg = *reg;
    if (accept('+')) {
      const auto more = parse_integer_expression();
      if (!more) return false;
      index.offset = *more;
      index.indexed = true;
    }
    out.list.push_back(std::move(index));
    out.indexed = true;
    out.offset = array->element;  // until the index is written out (written_out.cc)
    return expect(']');
  }
  const auto index = parse_integer_expression();
  if (!index || !expect(']')) return false;
  out.indexed = true;
  out.offset = static_cast<int64_t>(static_cast<uint64_t>(*index) * array->element);
  return true;
}

bool Parser::parse_operand(Function& f, Operand& out, int depth) {
  Lexeme l = lex_.peek();
  if (depth > kMaxOperandDepth) {
    error(l.at, "operands nest too deeply");
    return false;
  }
  if (l.is('!')) {  // of a predicate; of a number it belongs to an expression
    Lexer ahead = lex_;
    ahead.take();
    if (ahead.peek().token == Token::Word && ahead.peek().text != "WARP_SZ") {
      out.negated = true;
      lex_.take();
      l = lex_.peek();
    }
  }
  if (l.is('-')) {
    Lexer ahead = lex_;
    ahead.take();
    if (ahead.peek().token == Token::Word && find_register(std::string(ahead.peek().text))) {
      out.minus = true;
      lex_.take();
      l = lex_.peek();
    }
  }
  if (l.is('[')) {
    lex_.take();
    return parse_address(f, out);
  }
  if (l.is('{')) {
    lex_.take();
    out.kind = OperandKind::Vector;
    do {
      Operand e;
      if (!parse_operand(f, e, depth + 1)) return false;
      out.list.push_back(std::move(e));
    } while (accept(',') && out.list.size() < 256);
    return expect('}');
  }
  if (l.token == Token::Word && l.text != "WARP_SZ") {
    lex_.take();
    if (l.text == "generic" && accept('(')) {  // generic(symbol)
      Lexeme name = lex_.take();
      if (!name_operand(f, name, out) || !expect(')')) return false;
      out.single_literal = true;  // read as "generic" on symbols
      return true;
    }
    if (!name_operand(f, l, out)) return false;
    if (out.kind == OperandKind::Symbol && accept('[')) return parse_index(f, l, out);
    if (out.kind == OperandKind::Symbol && (lex_.peek().is('+') || lex_.peek().is('-'))) {
      auto v = parse_integer_expression();  // reads the sign as part of the number
      if (!v) return false;
      out.offset = *v;
    }
    if (accept('|')) {
      Lexeme second = lex_.take();
      if (second.text == "_") {
        out.pair = -2;
        return true;
      }
      auto reg = find_register(std::string(second.text));
      if (!reg || f.registers[*reg].type != Type::Pred) {
        error(second.at, "'{}' is not a predicate register", second.text);
        return false;
      }
      out.pair = *reg;
    }
    return true;
  }
  // A number, perhaps a signed one, perhaps an expression.
  out.kind = OperandKind::Immediate;
  bool minus = false;
  if (l.is('-') || l.is('+')) {
    Lexer ahead = lex_;  // decide between a signed floating literal and an integer expression
    ahead.take();
    const Lexeme n = ahead.peek();
    ahead.take();
    if (n.token == Token::Number && !operator_follows(ahead) &&
        (n.text.find('.') != std::string_view::npos || n.text.starts_with("0f") || n.text.starts_with("0F") || n.text.starts_with("0d") ||
         n.text.starts_with("0D"))) {
      minus = l.is('-');
      lex_.take();
      l = lex_.peek();
    }
  }
  if (l.token == Token::Number) {
    const bool hex = l.text.starts_with("0x") || l.text.starts_with("0X");
    const bool floating = l.text.starts_with("0f") || l.text.starts_with("0F") || l.text.starts_with("0d") || l.text.starts_with("0D") ||
                          (!hex && l.text.find_first_of(".eE") != std::string_view::npos);
    Lexer behind = lex_;
    behind.take();
    if (floating && !operator_follows(behind)) {
      lex_.take();
      auto c = parse_number(l);
      if (!c) return false;
      out.float_literal = true;
      out.single_literal = c->single;
      out.imm = c->bits;
      if (minus) out.imm ^= c->single ? 0x80000000ull : 0x8000000000000000ull;
      return true;
    }
  }
  return parse_constant_expression(out);
}

void Parser::parse_call(Function& f, Instruction& i) {
  // call (ret), target, (arguments), prototype; every part but the target may be absent.
  auto list = [&](Operand& out) {
    out.kind = OperandKind::List;
    if (!expect('(')) return false;
    while (!lex_.peek().is(')')) {
      Operand o;
      if (!parse_operand(f, o)) return false;
      out.list.push_back(std::move(o));
      if (!accept(',')) break;
    }
    return expect(')');
  };
  Operand returns, target, arguments, prototype;
  returns.kind = arguments.kind = OperandKind::List;
  if (lex_.peek().is('(')) {
    if (!list(returns) || !expect(',')) return;
  }
  Lexeme name = lex_.peek();
  if (!parse_operand(f, target)) return;
  if ((target.kind != OperandKind::Symbol && target.kind != OperandKind::Register) || target.address || target.negated || target.minus ||
      target.offset || target.pair != -1)
    return error(name.at, "a function is needed after call");
  if (accept(',')) {
    if (lex_.peek().is('(')) {
      if (!list(arguments)) return;
      if (accept(',')) {
        prototype.kind = OperandKind::Label;
        prototype.name = std::string(lex_.take().text);
      }
    } else {
      prototype.kind = OperandKind::Label;
      prototype.name = std::string(lex_.take().text);
    }
    if (prototype.kind == OperandKind::Label) prototype.imm = static_cast<uint64_t>(scopes_.back().id);
  }
  if (target.kind == OperandKind::Register && isa::bits_of(f.registers[target.reg].type) != 64)
    return error(name.at, "a function address needs a 64-bit register");
  i.operands = {std::move(returns), std::move(target), std::move(arguments), std::move(prototype)};
}

void Parser::parse_branch(Function& f, Instruction& i, bool table) {
  auto label = [&] {
    Operand o;
    o.kind = OperandKind::Label;
    Lexeme l = lex_.take();
    if (l.token != Token::Word) error(l.at, "a label is needed before '{}'", l.text);
    o.name = std::string(l.text);
    o.imm = static_cast<uint64_t>(scopes_.back().id);
    return o;
  };
  Lexeme first = lex_.peek();
  if (table) {  // brx.idx index, table
    lex_.take();
    auto reg = first.token == Token::Word ? find_register(std::string(first.text)) : std::nullopt;
    if (!reg || isa::bits_of(f.registers[*reg].type) != 32)
      return error(first.at, "'{}' must be a register with a 32-bit index", first.text);
    Operand index;
    index.kind = OperandKind::Register;
    index.reg = *reg;
    if (!expect(',')) return;
    i.operands = {index, label()};
  } else {
    i.operands = {label()};
  }
}

void Parser::resolve_labels(Function& f) {
  for (Instruction& i : f.body)
    for (Operand& o : i.operands) {
      if (o.kind != OperandKind::Label) continue;
      const int scope = static_cast<int>(o.imm);
      const bool call = i.form.row->cls == isa::Class::Call;
      const bool table = !call && i.operands.size() == 2;
      std::string key = call    ? lookup(f.prototypes, scope, o.name)
                        : table ? lookup(f.branch_targets, scope, o.name)
                                : lookup(f.labels, scope, o.name);
      if (key.empty()) {
        // `call` may name a list of .calltargets, which says nothing the machine needs.
        if (!call) error(i.at, "label '{}' is not defined", o.name);
        continue;
      }
      o.name = key;
    }
  for (auto& [name, targets] : f.branch_targets) {
    const int scope = std::atoi(name.c_str());
    for (std::string& t : targets) {
      std::string key = lookup(f.labels, scope, t);
      if (key.empty()) error(f.at, "label '{}' is not defined", t);
      else t = key;
    }
  }
}

// Holds every operand against the type its position asks for, as ptxas does: sizes must agree, and a floating-point
// register does not stand for an integer or the other way round. ld, st and cvt may use wider registers.
void Parser::check_operands(const Function& f, Instruction& i) {
  const isa::Row& row = *i.form.row;
  const isa::OperandSpecs& specs = row.operands;
  const bool loose = row.kind == isa::Kind::Memory || row.kind == isa::Kind::Convert;
  const bool converting_move = row.kind == isa::Kind::Move;
  auto check = [&](const Operand& o, Type want) {
    if (o.kind != OperandKind::Register || want == Type::None) return;
    const Register& r = f.registers[o.reg];
    if (o.address) return;
    const int have = isa::bits_of(r.type), need = isa::bits_of(want);
    const bool pred = (r.type == Type::Pred) != (want == Type::Pred);
    // A wider register may hold a shorter type, but not one floating-point type another, nor where bf16 or packed
    // types are converted.
    const bool packed =
        row.kind == isa::Kind::Convert && (i.form.type == Type::BF16 || i.form.atype == Type::BF16 || want == Type::F16x2 ||
                                           want == Type::BF16x2 || want == Type::TF32 || want == Type::E4M3x2 || want == Type::E5M2x2);
    const bool size_ok =
        have == need || (loose && have > need && r.type != Type::Pred && !packed && !(isa::is_float(r.type) && isa::is_float(want)));
    const auto kind_of = [](Type t) { return isa::facts(t).kind; };
    using isa::TypeKind;
    const TypeKind a = kind_of(r.type), b = kind_of(want);
    const bool mixed = (a == TypeKind::Float && (b == TypeKind::Signed || b == TypeKind::Unsigned)) ||
                       (b == TypeKind::Float && (a == TypeKind::Signed || a == TypeKind::Unsigned) && want != Type::F16x2 &&
                        want != Type::BF16x2 && want != Type::F16 && want != Type::BF16);
    if (pred || !size_ok || (mixed && !converting_move))
      error(i.at, "{} is {} but the instruction needs {}", f.register_name(o.reg), isa::name_of(r.type), isa::name_of(want));
  };
  for (size_t k = 0; k < i.operands.size() && static_cast<int>(k) < specs.count; ++k) {
    const Operand& o = i.operands[k];
    const bool written = specs.list[k].written;
    auto check_place = [&](const Operand& e) {
      if (written && e.kind != OperandKind::Register && e.kind != OperandKind::Sink) error(i.at, "the destination must be a register");
      if (written && (e.negated || e.minus)) error(i.at, "the destination cannot be negated");
      if (!written && e.kind == OperandKind::Sink) error(i.at, "'_' can only be a destination");
    };
    if (o.kind != OperandKind::Vector) check_place(o);
    else
      for (const Operand& e : o.list) check_place(e);
    const isa::OperandSpec& spec = specs.list[k];
    const isa::OperandForm form = row.form ? row.form(i.form, static_cast<int>(k)) : isa::OperandForm{};
    const bool plain_form = form.or_plain && o.kind != OperandKind::Vector;
    Type want = form.type != Type::None && !plain_form ? form.type : isa::operand_type(spec, i.form.type, i.form.atype);
    if (form.or_pred && o.kind == OperandKind::Register && f.registers[o.reg].type == Type::Pred) want = Type::Pred;
    if (static_cast<int>(o.address ? o.list.size() : 0) != form.coordinates)
      error(i.at, "operand {} has {} coordinates but needs {}", k + 1, o.list.size(), form.coordinates);
    if (spec.address) {
      for (const Operand& e : o.list) check(e, Type::S32);
      if (!o.address) {
        error(i.at, "operand {} must be an address in brackets", k + 1);
        continue;
      }
      if (o.kind == OperandKind::Register) {
        int bits = isa::bits_of(f.registers[o.reg].type);
        if (bits != 64 && bits != 32)
          error(i.at, "{} is {} and cannot hold an address", f.register_name(o.reg), isa::name_of(f.registers[o.reg].type));
      }
      continue;
    }
    if (o.address) {
      error(i.at, "operand {} cannot be an address", k + 1);
      continue;
    }
    if (o.pair != -1 && !spec.pair) error(i.at, "operand {} cannot have a second destination", k + 1);
    if (spec.constant && o.kind != OperandKind::Immediate) error(i.at, "operand {} must be a number", k + 1);
    if (o.selector.unit && row.kind != isa::Kind::Video) error(i.at, "only video instructions pick parts of a register");
    if (o.minus && row.kind != isa::Kind::Video) error(i.at, "operand {} cannot be negated with '-'", k + 1);
    if (o.pair == -1 && spec.both) error(i.at, "operand {} needs a second destination", k + 1);
    if (o.negated && want != Type::Pred) error(i.at, "only a predicate can be negated with '!'");
    if (form.count && !plain_form) {
      if (o.kind != OperandKind::Vector || static_cast<int>(o.list.size()) != form.count)
        error(i.at, "operand {} must be a vector of {} in braces", k + 1, form.count);
      for (const Operand& e : o.list) {
        if (e.kind != OperandKind::Register && e.kind != OperandKind::Immediate && e.kind != OperandKind::Sink)
          error(i.at, "operand {} must be a vector of registers", k + 1);
        check(e, want);
      }
      continue;
    }
    if (o.kind == OperandKind::Vector) {
      if (converting_move) {
        int bits = 0;
        for (const Operand& e : o.list) {
          if (e.kind == OperandKind::Register &&
              isa::bits_of(f.registers[e.reg].type) * static_cast<int>(o.list.size()) != isa::bits_of(want))
            error(i.at, "{} is {}: {} of it do not make {}", f.register_name(e.reg), isa::name_of(f.registers[e.reg].type), o.list.size(),
                  isa::name_of(want));
          if (e.kind == OperandKind::Register) bits += isa::bits_of(f.registers[e.reg].type);
          else if (e.kind == OperandKind::Sink || e.kind == OperandKind::Immediate)
            bits += isa::bits_of(want) / static_cast<int>(o.list.size());
          else error(i.at, "operand {} must be a vector of registers", k + 1);
        }
        if (bits != isa::bits_of(want))
          error(i.at, "the vector holds {} bits but {} needs {}", bits, isa::name_of(want), isa::bits_of(want));
      } else {
        const bool vector_row = i.form.mods.vec != 0 || row.kind == isa::Kind::Memory || row.kind == isa::Kind::Atomic;
        if (!vector_row || static_cast<int>(o.list.size()) != i.form.mods.vec)
          error(i.at, "operand {} cannot be a vector of {}", k + 1, o.list.size());
        for (const Operand& e : o.list) {
          if (e.kind != OperandKind::Register && e.kind != OperandKind::Immediate && e.kind != OperandKind::Sink)
            error(i.at, "operand {} must be a vector of registers", k + 1);
          check(e, want);
        }
      }
      continue;
    }
    if (i.form.mods.vec && (row.kind == isa::Kind::Memory) && static_cast<int>(k) == (row.cls == isa::Class::Store ? 1 : 0))
      error(i.at, "operand {} must be a vector of {}", k + 1, i.form.mods.vec);
    if (o.kind == OperandKind::Immediate && o.float_literal && !isa::is_float(want) && isa::facts(want).kind != isa::TypeKind::Bits &&
        want != Type::None)
      error(i.at, "a floating-point literal cannot stand for {}", isa::name_of(want));
    if (o.kind == OperandKind::Symbol && row.kind != isa::Kind::Move && row.kind != isa::Kind::Address && row.kind != isa::Kind::Memory)
      error(i.at, "'{}' is not declared", o.name);
    check(o, want);
  }
}

}  // namespace warpbeam::ptx
