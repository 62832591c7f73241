// Operands of texture and surface instructions: `{d0, d1, d2, d3}, [image, {x, y}], …`.
#include "isa/image_form.h"
#include "ptx/parser.h"

namespace warpbeam::ptx {

using isa::Type;

// `.global .samplerref s = { addr_mode_0 = wrap, … };`
void Parser::parse_reference_state() {
  if (!expect('{')) return;
  while (lex_.peek().token != Token::End && !lex_.peek().is('}') && !lex_.peek().is(';')) lex_.take();
  expect('}');
}

// `image`, `image, {x, y}` or `image, sampler, {x, y}` behind the bracket: an operand for the image, one for the
// coordinates.
bool Parser::parse_image_place(Function& f, std::vector<Operand>& into) {
  const Lexeme name = lex_.take();
  Operand image;
  if (name.token != Token::Word || !name_operand(f, name, image)) {
    error(name.at, "an image is needed before '{}'", name.text);
    return false;
  }
  if (image.kind != OperandKind::Register && image.kind != OperandKind::Symbol) {
    error(name.at, "'{}' cannot be an image", name.text);
    return false;
  }
  into.push_back(std::move(image));
  std::vector<Operand> rest;
  while (accept(',') && rest.size() < 3) {
    Operand o;
    if (!parse_operand(f, o)) return false;
    rest.push_back(std::move(o));
  }
  if (rest.size() > 1) {
    error(name.at, "samplers apart from their texture are not supported");
    return false;
  }
  if (!rest.empty()) {
    Operand coordinates = std::move(rest[0]);
    if (coordinates.kind != OperandKind::Vector) {
      Operand wrapped;
      wrapped.kind = OperandKind::Vector;
      wrapped.list.push_back(std::move(coordinates));
      coordinates = std::move(wrapped);
    }
    into.push_back(std::move(coordinates));
  }
  return expect(']');
}

bool Parser::parse_image_operands(Function& f, Instruction& i) {
  while (!lex_.peek().is(';') && lex_.peek().token != Token::End && i.operands.size() < 16) {
    if (accept('[')) {
      if (!parse_image_place(f, i.operands)) return false;
    } else {
      Operand o;
      if (!parse_operand(f, o)) return false;
      if (o.kind == OperandKind::Vector && accept('|')) {
        const Lexeme second = lex_.take();
        const auto reg = find_register(std::string(second.text));
        if (!reg || f.registers[*reg].type != Type::Pred) {
          error(second.at, "'{}' is not a predicate register", second.text);
          return false;
        }
        o.pair = *reg;
      }
      i.operands.push_back(std::move(o));
    }
    if (!accept(',')) break;
  }
  return true;
}

void Parser::check_image_operands(const Function& f, const Instruction& i) {
  const isa::ImageForm form = isa::image_form(i.form);
  const size_t errors = diagnostics_.size();
  // 8- and 16-bit values of surfaces may stand in wider registers.
  auto check = [&](const Operand& o, Type want, bool destination) {
    if (destination ? o.kind != OperandKind::Register && o.kind != OperandKind::Sink
                    : o.kind != OperandKind::Register && o.kind != OperandKind::Immediate)
      return error(i.at, "{}", destination ? "the destination must be registers" : "registers or numbers are needed");
    if (o.negated || o.minus) return error(i.at, "an operand of '{}' cannot be negated", i.form.row->opcode);
    if (o.kind != OperandKind::Register) return;
    const Register& r = f.registers[o.reg];
    const int have = isa::bits_of(r.type), need = isa::bits_of(want);
    const bool fits =
        want == Type::Pred ? r.type == Type::Pred : r.type != Type::Pred && (have == need || (need <= 16 && (have == 16 || have == 32)));
    if (!fits) error(i.at, "{} is {} but the instruction needs {}", f.register_name(o.reg), isa::name_of(r.type), isa::name_of(want));
  };
  auto check_vector = [&](const Operand& o, int count, Type want, bool destination, bool plain_too) {
    if (o.kind != OperandKind::Vector) {
      if (count != 1 && !plain_too) return error(i.at, "a vector of {} is needed", count);
      return check(o, want, destination);
    }
    if (static_cast<int>(o.list.size()) != count) return error(i.at, "a vector of {} is needed, not of {}", count, o.list.size());
    for (const Operand& e : o.list) check(e, want, destination);
  };
  size_t at = 0;
  auto next = [&]() -> const Operand* {
    if (at < i.operands.size()) return &i.operands[at++];
    if (diagnostics_.size() == errors) error(i.at, "'{}' lacks an operand; its form is: {}", i.form.row->opcode, i.form.row->syntax);
    return nullptr;
  };
  if (form.results)
    if (const Operand* o = next()) check_vector(*o, form.results, form.result, true, false);
  if (const Operand* o = next()) {
    if (o->kind == OperandKind::Register ? isa::bits_of(f.registers[o->reg].type) != 64 : o->kind != OperandKind::Symbol)
      error(i.at, "an image is a name or a 64-bit register");
  }
  if (form.coordinates)
    if (const Operand* o = next()) {
      const int given = static_cast<int>(o->list.size());
      if (o->kind != OperandKind::Vector || (given != form.coordinates && given != form.used))
        error(i.at, "{} coordinates are needed", form.coordinates);
      for (int k = 0; k < given && k < form.used; ++k) check(o->list[k], k == 0 && form.layered ? Type::U32 : form.coordinate, false);
    }
  if (form.values)
    if (const Operand* o = next()) check_vector(*o, form.values, form.value, false, false);
  if (form.level)
    if (const Operand* o = next()) check(*o, Type::B32, false);
  for (int k = 0; form.gradient && k < 2; ++k)
    if (const Operand* o = next()) check_vector(*o, form.gradient, Type::F32, false, false);
  if (form.sampler && form.offset && at < i.operands.size())
    if (const Operand& o = i.operands[at]; o.kind == OperandKind::Vector || form.offset == 1) {
      check_vector(o, form.offset, Type::S32, false, true);
      ++at;
    }
  if (form.sampler && at < i.operands.size()) error(i.at, "depth comparison is not supported");
  else if (at < i.operands.size()) error(i.at, "'{}' takes fewer operands; its form is: {}", i.form.row->opcode, i.form.row->syntax);
}

}  // namespace warpbeam::ptx
