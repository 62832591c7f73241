// Calls pass .param variables here. A function may also name registers as its parameters, and a call may pass registers
// and numbers: such a call gets .param variables of its own, stored before it and loaded behind it.
#include <algorithm>

#include "ptx/parser.h"

namespace warpbeam::ptx {
namespace {

using isa::Type;

Type bits_type(uint64_t bytes) {
  switch (bytes) {
    case 1: return Type::B8;
    case 2: return Type::B16;
    case 4: return Type::B32;
    default: return Type::B64;
  }
}

class Lowering {
 public:
  Lowering(Function& f, const std::vector<Function>& known, int& unique) : f_(f), known_(known), unique_(unique) {}

  bool needed() const {
    return !f_.register_params.empty() || !f_.register_returns.empty() || std::any_of(f_.body.begin(), f_.body.end(), passes_values);
  }

  // The call that cannot be made, with nothing changed; null when all are.
  const Instruction* run() {
    for (const Instruction& i : f_.body)
      if (passes_values(i) && !sizes_agree(i)) return &i;
    std::vector<uint32_t> starts;
    std::vector<Instruction> body = std::move(f_.body);
    f_.body.clear();
    for (const auto& [param, reg] : f_.register_params)
      move("ld", param_named(f_.params, param), register_operand(reg), body.empty() ? Instruction{} : body.front(), false);
    for (size_t k = 0; k < body.size(); ++k) {
      starts.push_back(static_cast<uint32_t>(f_.body.size()));
      if (passes_values(body[k])) lower_call(std::move(body[k]));
      else {
        if (body[k].form.row->opcode == "ret") store_returns(body[k]);
        f_.body.push_back(std::move(body[k]));
      }
    }
    starts.push_back(static_cast<uint32_t>(f_.body.size()));
    if (!f_.body.empty()) store_returns(Instruction(f_.body.back()), false);  // running off the end returns too
    for (auto& [name, at] : f_.labels) at = starts[std::min<size_t>(at, starts.size() - 1)];
    return nullptr;
  }

 private:
  static bool passes_values(const Instruction& i) {
    const auto by_register = [](const Operand& list) {
      return std::any_of(list.list.begin(), list.list.end(),
                         [](const Operand& o) { return o.kind == OperandKind::Register || o.kind == OperandKind::Immediate; });
    };
    return i.form.row->cls == isa::Class::Call && (by_register(i.operands[0]) || by_register(i.operands[2]));
  }
  static const Variable& param_named(const std::vector<Variable>& list, const std::string& name) {
    return *std::find_if(list.begin(), list.end(), [&](const Variable& v) { return v.name == name; });
  }
  static Operand register_operand(int reg) {
    Operand o;
    o.kind = OperandKind::Register;
    o.reg = reg;
    return o;
  }

  // The parameters of what is called: of the function, or of the prototype that the call names.
  const std::vector<Variable>* signature(const Instruction& call, bool returns) const {
    if (call.operands[1].kind == OperandKind::Symbol) {
      for (const Function& g : known_)
        if (g.name == call.operands[1].name) return returns ? &g.returns : &g.params;
      if (f_.name == call.operands[1].name) return returns ? &f_.returns : &f_.params;
    }
    if (const auto it = f_.prototypes.find(call.operands[3].name); it != f_.prototypes.end())
      return returns ? &it->second.returns : &it->second.params;
    return nullptr;
  }
  uint64_t size_of(const Instruction& call, bool returns, size_t k) const {
    const std::vector<Variable>* params = signature(call, returns);
    if (params && k < params->size()) return (*params)[k].size;
    const Operand& o = call.operands[returns ? 0 : 2].list[k];
    return o.kind == OperandKind::Register ? static_cast<uint64_t>(isa::bytes_of(f_.registers[static_cast<size_t>(o.reg)].type)) : 0;
  }
  bool sizes_agree(const Instruction& call) const {
    for (bool returns : {true, false}) {
      const std::vector<Operand>& list = call.operands[returns ? 0 : 2].list;
      for (size_t k = 0; k < list.size(); ++k) {
        if (list[k].kind == OperandKind::Symbol) continue;
        const uint64_t size = size_of(call, returns, k);
        if (size != 1 && size != 2 && size != 4 && size != 8) return false;
        if (list[k].kind == OperandKind::Register &&
            size != static_cast<uint64_t>(isa::bytes_of(f_.registers[static_cast<size_t>(list[k].reg)].type)))
          return false;
      }
    }
    return true;
  }

  void move(std::string_view op, const Variable& param, Operand value, const Instruction& like, bool guarded = true) {
    static constexpr std::string_view kParam = ".param";
    const std::string type = std::string(isa::name_of(bits_type(param.size)));
    const std::string_view words[] = {kParam, type};
    Instruction i;
    i.form = *isa::match_row(op, words, 2);
    i.at = like.at;
    i.file = like.file;
    i.line = like.line;
    if (guarded) {
      i.guard = like.guard;
      i.guard_negated = like.guard_negated;
    }
    Operand address;
    address.kind = OperandKind::Symbol;
    address.address = true;
    address.name = param.name;
    if (op == "ld") i.operands = {std::move(value), std::move(address)};
    else i.operands = {std::move(address), std::move(value)};
    f_.body.push_back(std::move(i));
  }

  void lower_call(Instruction call) {
    std::vector<std::pair<Variable, Operand>> loads;
    for (bool returns : {true, false}) {
      std::vector<Operand>& list = call.operands[returns ? 0 : 2].list;
      for (size_t k = 0; k < list.size(); ++k) {
        if (list[k].kind == OperandKind::Symbol) continue;
        Variable v;
        v.name = "%argument" + std::to_string(unique_++);
        v.space = isa::Space::Param;
        v.size = size_of(call, returns, k);
        v.align = static_cast<uint32_t>(v.size);
        v.type = bits_type(v.size);
        f_.locals.push_back(v);
        Operand value = std::move(list[k]);
        list[k] = {};
        list[k].kind = OperandKind::Symbol;
        list[k].name = v.name;
        if (returns) loads.emplace_back(v, std::move(value));
        else move("st", v, std::move(value), call);
      }
    }
    f_.body.push_back(call);
    for (auto& [v, value] : loads) move("ld", v, std::move(value), call);
  }

  void store_returns(const Instruction& ret, bool guarded = true) {
    for (const auto& [name, reg] : f_.register_returns) move("st", param_named(f_.returns, name), register_operand(reg), ret, guarded);
  }

  Function& f_;
  const std::vector<Function>& known_;
  int& unique_;
};

}  // namespace

void Parser::declare_register_params(Function& f) {
  for (bool returns : {true, false})
    for (Variable& v : returns ? f.returns : f.params) {
      if (v.space != isa::Space::Generic) continue;
      v.space = isa::Space::Param;
      const uint64_t bytes = static_cast<uint64_t>(isa::bytes_of(v.type));
      if (v.type == Type::Pred || v.size != bytes) {
        error(v.at, "register parameter '{}' must be one value of 8 to 64 bits", v.name);
        continue;
      }
      const int reg = static_cast<int>(f.registers.size());
      f.registers.push_back({v.type, -1, static_cast<uint32_t>(f.register_names.size())});
      f.register_names.push_back(v.name);
      scopes_.back().registers[v.name] = reg;
      (returns ? f.register_returns : f.register_params).emplace_back(v.name, reg);
    }
}

void Parser::lower_register_arguments(Function& f) {
  Lowering lowering(f, module_->functions, unique_);
  if (!lowering.needed()) return;
  if (const Instruction* bad = lowering.run()) error(bad->at, "this call does not match the parameters of '{}'", bad->operands[1].name);
}

}  // namespace warpbeam::ptx
