#include "vm/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/demangle.h"
#include "vm/builtins.h"
#include "vm/code.h"
#include "ptx/pressure.h"
#include "vm/decode.h"

namespace warpbeam::vm {

namespace {

using ptx::Linkage;

constexpr uint64_t kConstantBank = 64 << 10;
constexpr uint32_t kStaticSharedLimit = 48 << 10;
constexpr uint64_t kParameterLimit = 32764;
// Variables with an allocation of their own, which finds accesses beside them. The host maps no more than some 65,000 places, and some
// libraries of templates bring 20,000 variables.
constexpr size_t kMostApart = 1024;

// Only objects lead there. Lanes with objects of different classes read several at once, which is quick where one allocation has them.
bool is_virtual_table(const ptx::Variable& v) { return v.name.starts_with("_ZTV"); }
constexpr uint64_t kMostCallBytes = 512 * 1024;  // local memory that a thread may have

// Strong definitions win over weak and common ones, definitions over declarations.
int strength(Linkage l) { return l == Linkage::Extern ? 0 : l == Linkage::Common ? 1 : l == Linkage::Weak ? 2 : 3; }

}  // namespace

class Linker {
 public:
  Linker(DeviceMemory& memory, const LoadOptions& options, Program::Image& image, std::vector<ProgramVariable>& variables,
         std::vector<ProgramReference>& references, std::vector<std::unique_ptr<Kernel>>& kernels)
      : memory_(memory), options_(options), image_(image), variables_(variables), references_(references), kernels_(kernels) {}

  Result<void> run(std::span<const std::string_view> texts) {
    if (auto r = parse(texts); !r) return r.error();
    collect();
    if (!errors_.empty()) return failure(LoadErrorCode::InvalidPtx);
    if (auto r = place_variables(); !r) return r.error();
    find_waiting();
    decode_functions();
    if (!errors_.empty()) return failure(LoadErrorCode::InvalidPtx);
    relocate();
    make_kernels();
    if (!errors_.empty()) return failure(LoadErrorCode::InvalidPtx);
    return {};
  }

 private:
  struct Place {  // where a variable lives
    const ptx::Variable* variable = nullptr;
    size_t module = 0;
    uint64_t address = 0;
    int shared = -1;
  };

  Error failure(LoadErrorCode code) const {
    std::string text;
    for (const std::string& e : errors_) text += (text.empty() ? "" : "\n") + e;
    return {static_cast<int>(code), text};
  }
  void report(size_t module, const ptx::Diagnostic& d) {
    const std::string prefix = image_.modules.size() > 1 ? fmt::format("ptx[{}]:", module) : "ptx:";
    errors_.push_back(fmt::format("{}{}:{}: error: {}", prefix, d.at.line, d.at.column, d.message));
  }

  Result<void> parse(std::span<const std::string_view> texts) {
    bool version = false;
    for (std::string_view text : texts) {
      while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
      ptx::ParseResult r = ptx::parse(text);
      image_.modules.push_back(std::move(r.module));
      for (const ptx::Diagnostic& d : r.diagnostics) {
        version = version || d.unsupported_version;
        report(image_.modules.size() - 1, d);
      }
    }
    if (!errors_.empty()) return failure(version ? LoadErrorCode::UnsupportedPtxVersion : LoadErrorCode::InvalidPtx);
    return {};
  }

  template <class T>
  bool better(const T* now, Linkage linkage) const {
    return !now || strength(linkage) > strength(now->linkage);
  }

  void collect() {
    locals_.resize(image_.modules.size());
    for (size_t m = 0; m < image_.modules.size(); ++m) {
      for (const ptx::Function& f : image_.modules[m]->functions) {
        if (!f.has_body) continue;
        auto code = std::make_unique<FunctionCode>();
        code->name = f.name;
        code->display_name = demangled(f.name);
        code->source = &f;
        code->module = image_.modules[m].get();
        code->index = static_cast<uint32_t>(image_.functions.size());
        if (locals_[m].functions.contains(f.name)) report(m, {f.at, fmt::format("'{}' is defined twice", f.name), false});
        locals_[m].functions[f.name] = code.get();
        if (f.linkage != Linkage::Internal || f.entry) {
          auto& global = functions_[f.name];
          if (global && strength(global->source->linkage) == 3 && strength(f.linkage) == 3 && f.linkage == Linkage::Visible)
            report(m, {f.at, fmt::format("'{}' is defined in two of the linked texts", f.name), false});
          if (!global || strength(f.linkage) > strength(global->source->linkage)) global = code.get();
        }
        image_.functions.push_back(std::move(code));
      }
      for (const ptx::Alias& a : image_.modules[m]->aliases) {
        const auto target = locals_[m].functions.find(a.target);
        if (target == locals_[m].functions.end()) {
          report(m, {a.at, fmt::format("'{}' cannot stand for '{}', which is not defined here", a.name, a.target), false});
          continue;
        }
        locals_[m].functions.emplace(a.name, target->second);
        functions_.emplace(a.name, target->second);
      }
      auto add = [&](const ptx::Variable& v, bool module_level) {
        Place p{&v, m, 0, -1};
        if (v.linkage == Linkage::Extern && v.space != isa::Space::Shared) return;
        if (v.linkage == Linkage::Internal || !module_level) {
          if (locals_[m].variables.contains(v.name)) {
            report(m, {v.at, fmt::format("'{}' is defined twice", v.name), false});
            return;
          }
          places_.push_back(std::make_unique<Place>(p));
          locals_[m].variables[v.name] = places_.back().get();
          return;
        }
        auto& global = globals_[v.name];
        if (global && strength(v.linkage) == 3 && strength(global->variable->linkage) == 3)
          report(m, {v.at, fmt::format("'{}' is defined in two of the linked texts", v.name), false});
        if (!global || strength(v.linkage) > strength(global->variable->linkage) ||
            (v.linkage == Linkage::Common && global->variable->linkage == Linkage::Common && v.size > global->variable->size)) {
          places_.push_back(std::make_unique<Place>(p));
          global = places_.back().get();
        }
      };
      for (const ptx::Variable& v : image_.modules[m]->variables) add(v, true);
      for (const ptx::Function& f : image_.modules[m]->functions)
        for (const ptx::Variable& v : f.locals)
          if (v.space == isa::Space::Shared || v.space == isa::Space::Global || v.space == isa::Space::Const) add(v, false);
    }
  }

  bool is_live(const Place& p) const {  // the definition that won
    const auto local = locals_[p.module].variables.find(p.variable->name);
    if (local != locals_[p.module].variables.end() && local->second == &p) return true;
    auto global = globals_.find(p.variable->name);
    return global != globals_.end() && global->second == &p;
  }

  Result<void> place_variables() {
    uint64_t bank = 0, small = 0;
    std::vector<std::pair<Place*, uint64_t>> in_bank, in_small;
    for (auto& p : places_) {
      const ptx::Variable& v = *p->variable;
      if (!is_live(*p)) continue;
      if (v.space == isa::Space::Shared) {
        p->shared = static_cast<int>(image_.shared_variables.size());
        image_.shared_variables.push_back({v.name, v.size, v.align, v.unsized || (v.linkage == Linkage::Extern && v.size == 0)});
        continue;
      }
      if (v.reference != ptx::Reference::None) {
        if (options_.same_places) {
          const ProgramReference* theirs = options_.same_places->find_reference(v.name);
          p->address = theirs ? theirs->handle : 0;
          continue;
        }
        p->address = memory_.images.add(nullptr);
        references_.push_back({v.name, p->address, v.reference == ptx::Reference::Surface});
        continue;
      }
      if (options_.same_places) {
        const auto& theirs = options_.same_places->variables();
        if (variables_.size() >= theirs.size() || theirs[variables_.size()].name != v.name)
          return Error{static_cast<int>(LoadErrorCode::InvalidPtx),
                       fmt::format("ptx: error: the other program has no variable {}", v.name)};
        p->address = theirs[variables_.size()].address;
        variables_.push_back(theirs[variables_.size()]);
        continue;
      }
      const bool constant = v.space == isa::Space::Const;
      if (constant) {
        bank = (bank + v.align - 1) / v.align * v.align;
        if (!options_.guard_bytes) in_bank.emplace_back(p.get(), bank);
        bank += v.size;
        if (!options_.guard_bytes) continue;
      }
      const auto placement =
          std::find_if(options_.placements.begin(), options_.placements.end(), [&](auto& q) { return q.name == v.name; });
      if (placement != options_.placements.end()) {
        p->address = reinterpret_cast<uint64_t>(placement->host);
        auto a = memory_.adopt(placement->host, std::max<uint64_t>(placement->size, v.size), MemoryKind::Managed,
                               fmt::format("__managed__ {}", v.name));
        if (a) owned_.push_back(a->base);
      } else if (!constant && v.size <= 4096 &&
                 (owned_.size() >= kMostApart || (v.linkage == Linkage::Internal && !options_.guard_bytes) || is_virtual_table(v))) {
        const uint64_t align = std::max<uint64_t>(v.align, 16);
        small = (small + align - 1) / align * align;
        in_small.emplace_back(p.get(), small);
        small += v.size;
        continue;
      } else {
        auto a =
            memory_.allocate(std::max<uint64_t>(v.size, 1), std::max(256u, v.align), constant ? MemoryKind::Constant : MemoryKind::Variable,
                             fmt::format("{} {}", constant ? "__constant__" : "__device__", demangled(v.name)));
        if (!a) return Error{static_cast<int>(LoadErrorCode::OutOfMemory), a.error().message};
        owned_.push_back(a->base);
        p->address = a->base;
      }
    }
    auto place_group = [&](auto& group, uint64_t bytes, MemoryKind kind, const char* what) -> Result<void> {
      if (group.empty()) return {};
      auto a = memory_.allocate(std::max<uint64_t>(bytes, 1), 256, kind, what);
      if (!a) return Error{static_cast<int>(LoadErrorCode::OutOfMemory), a.error().message};
      owned_.push_back(a->base);
      for (auto& [p, offset] : group) p->address = a->base + offset;
      return {};
    };
    if (bank > kConstantBank) {
      errors_.push_back(
          fmt::format("ptx: error: the program's __constant__ variables need {} bytes; the constant bank has {}", bank, kConstantBank));
      return failure(LoadErrorCode::InvalidPtx);
    }
    if (options_.same_places) return {};
    constant_bytes_ = static_cast<uint32_t>(bank);
    WB_TRY(place_group(in_bank, bank, MemoryKind::Constant, "__constant__ variables"));
    WB_TRY(place_group(in_small, small, MemoryKind::Variable, "static __device__ variables"));
    for (auto& p : places_) {
      const ptx::Variable& v = *p->variable;
      if (!p->address || v.reference != ptx::Reference::None) continue;
      if (!v.init.empty()) std::memcpy(reinterpret_cast<void*>(p->address), v.init.data(), std::min<size_t>(v.init.size(), v.size));
      variables_.push_back({v.name, p->address, v.size, v.space == isa::Space::Const, v.managed});
    }
    return {};
  }

  Resolved resolve(size_t module, const std::string& name) {
    Resolved r;
    const Place* place = nullptr;
    if (auto it = locals_[module].variables.find(name); it != locals_[module].variables.end()) place = it->second;
    else if (auto global = globals_.find(name); global != globals_.end()) place = global->second;
    if (place) {
      if (place->shared >= 0) {
        r.kind = Resolved::Shared;
        r.shared = static_cast<uint32_t>(place->shared);
      } else {
        r.kind = Resolved::Address;
        r.address = place->address;
      }
      return r;
    }
    const FunctionCode* f = nullptr;
    if (auto it = locals_[module].functions.find(name); it != locals_[module].functions.end()) f = it->second;
    if (auto it = functions_.find(name); it != functions_.end() && (!f || f->source->linkage != Linkage::Internal)) f = it->second;
    if (f) {
      r.kind = Resolved::Function;
      r.function = f;
      r.address = code_address(f->index);
      if (f->source->entry) r.builtin = options_.launch_entry;
      return r;
    }
    r = find_builtin(name);
    if (r.kind != Resolved::Missing || !options_.find_builtin) return r;
    r.builtin = options_.find_builtin(name);
    if (!r.builtin) return r;
    r.kind = Resolved::Builtin;
    r.runtime = image_.calls_runtime = true;
    return r;
  }

  size_t module_of(const FunctionCode& f) const {
    for (size_t m = 0; m < image_.modules.size(); ++m)
      if (image_.modules[m].get() == f.module) return m;
    return 0;
  }

  void find_waiting() {
    std::vector<std::vector<uint32_t>> callers(image_.functions.size());
    std::vector<uint32_t> work;
    auto mark = [&](uint32_t f) {
      if (image_.functions[f]->may_wait) return;
      image_.functions[f]->may_wait = true;
      work.push_back(f);
    };
    for (auto& f : image_.functions) {
      const size_t m = module_of(*f);
      for (const ptx::Instruction& i : f->source->body) {
        if (may_wait(i)) mark(f->index);
        if (i.form.row->cls != isa::Class::Call || i.operands[1].kind != ptx::OperandKind::Symbol) continue;
        const Resolved r = resolve(m, i.operands[1].name);
        if (r.kind == Resolved::Function) callers[r.function->index].push_back(f->index);
      }
    }
    while (!work.empty()) {
      const uint32_t f = work.back();
      work.pop_back();
      for (uint32_t c : callers[f]) mark(c);
    }
  }

  void decode_functions() {
    // Heads first: calls are checked against them, and parameters of a callee may be needed before its body is decoded.
    for (auto& f : image_.functions) {
      std::vector<ptx::Diagnostic> diagnostics;
      const size_t m = module_of(*f);
      decode(*f, [&](const std::string& name) { return resolve(m, name); }, diagnostics);
      for (const auto& d : diagnostics) report(m, d);
      for (const uint32_t taken : f->taken) image_.functions[taken]->address_taken = true;
      if (errors_.size() > 100) return;
    }
  }

  void relocate() {
    for (auto& p : places_) {
      if (!p->address) continue;
      for (const ptx::Relocation& rel : p->variable->relocations) {
        Resolved r = resolve(p->module, rel.symbol);
        if (r.kind == Resolved::Builtin) continue;  // its address is null: a call through it traps
        if (r.kind != Resolved::Address && r.kind != Resolved::Function) {
          report(p->module, {rel.at, fmt::format("'{}' is not defined", rel.symbol), false});
          continue;
        }
        if (r.kind == Resolved::Function) image_.functions[r.function->index]->address_taken = true;
        const uint64_t value = (r.address + static_cast<uint64_t>(rel.addend)) >> rel.shift;
        if (rel.offset + rel.bytes <= p->variable->size)
          std::memcpy(reinterpret_cast<std::byte*>(p->address) + rel.offset, &value, std::min<size_t>(rel.bytes, 8));
      }
    }
  }

  // Everything a kernel may call.
  std::vector<char> reachable(const FunctionCode& entry) const {
    std::vector<char> seen(image_.functions.size());
    std::vector<uint32_t> work{entry.index};
    seen[entry.index] = 1;
    while (!work.empty()) {
      const FunctionCode& f = *image_.functions[work.back()];
      work.pop_back();
      auto visit = [&](uint32_t c) {
        if (!seen[c]) {
          seen[c] = 1;
          work.push_back(c);
        }
      };
      for (uint32_t c : f.callees) visit(c);
      if (f.indirect_calls)
        for (auto& g : image_.functions)
          if (!g->source->entry) visit(g->index);
    }
    return seen;
  }

  // Local memory of the deepest chain of calls from here in which no function is met twice. A GPU's compiler knows it and sets
  // it aside for every thread; only what comes on top, for recursion, has to fit into the stack's limit.
  uint32_t deepest_calls(const FunctionCode& f, std::vector<std::optional<uint32_t>>& known) const {
    if (known[f.index]) return *known[f.index];
    known[f.index] = 0;  // to those that it calls while it is looked at
    uint64_t most = 0;
    const auto visit = [&](const FunctionCode& g) { most = std::max(most, uint64_t(g.local_bytes) + deepest_calls(g, known)); };
    for (uint32_t c : f.callees) visit(*image_.functions[c]);
    if (f.indirect_calls)
      for (const auto& g : image_.functions)
        if (g->address_taken && !g->source->entry) visit(*g);
    known[f.index] = static_cast<uint32_t>(std::min<uint64_t>(most, kMostCallBytes));
    return *known[f.index];
  }

  void make_kernels() {
    for (auto& f : image_.functions) {
      if (!f->source->entry) continue;
      if (auto it = functions_.find(f->name); it == functions_.end() || it->second != f.get()) continue;
      Code code;
      code.function = f.get();
      code.shared_offsets.assign(image_.shared_variables.size(), ~0u);
      const std::vector<char> seen = reachable(*f);
      uint64_t at = 0;      // what the program asks for
      uint64_t guarded = 0;  // and with what guards its ends
      uint32_t dynamic_align = 16;
      for (size_t k = 0; k < seen.size(); ++k) {
        if (!seen[k]) continue;
        code.takes_param_address = code.takes_param_address || image_.functions[k]->takes_param_address;
        for (uint32_t s : image_.functions[k]->shared_used) {
          const SharedVariable& v = image_.shared_variables[s];
          if (v.dynamic) {
            dynamic_align = std::max(dynamic_align, v.align);
          } else if (code.shared_offsets[s] == ~0u) {
            at = (at + v.align - 1) / v.align * v.align + v.size;
            guarded = (guarded + v.align - 1) / v.align * v.align;
            code.shared_offsets[s] = static_cast<uint32_t>(guarded);
            guarded += v.size + options_.guard_bytes;
          }
        }
      }
      if (at > kStaticSharedLimit) {
        errors_.push_back(fmt::format("ptx:{}:{}: error: '{}' uses {} bytes of static shared memory; at most {} are allowed",
                                      f->source->at.line, f->source->at.column, f->display_name, at, kStaticSharedLimit));
        continue;
      }
      bool any_dynamic = false;
      for (uint32_t s = 0; s < image_.shared_variables.size(); ++s) any_dynamic = any_dynamic || image_.shared_variables[s].dynamic;
      for (uint64_t* end : {&at, &guarded})
        if (any_dynamic) *end = (*end + dynamic_align - 1) / dynamic_align * dynamic_align;
      for (uint32_t s = 0; s < image_.shared_variables.size(); ++s)
        if (image_.shared_variables[s].dynamic) code.shared_offsets[s] = static_cast<uint32_t>(guarded);
      code.static_shared = static_cast<uint32_t>(guarded);
      image_.kernels.push_back(std::move(code));
      add_kernel(*f, image_.kernels.back(), static_cast<uint32_t>(at));
      if (!kernels_.empty()) f->kernel = kernels_.back().get();
    }
  }

  uint32_t pressure(const FunctionCode& f) {
    pressure_.resize(image_.functions.size());
    auto& known = pressure_[f.index];
    if (!known) known = ptx::register_pressure(*f.source);
    return *known;
  }

  uint32_t registers(const FunctionCode& f) {
    uint32_t most = pressure(f);
    const bool calls = !f.callees.empty() || f.indirect_calls;
    if (calls) {
      const std::vector<char> seen = reachable(f);
      for (size_t k = 0; k < seen.size(); ++k)
        if (seen[k]) most = std::max(most, pressure(*image_.functions[k]));
    }
    return ptx::estimate_registers(*f.source, most, calls, options_.max_registers, options_.registers_per_block);
  }

  void add_kernel(const FunctionCode& f, const Code& code, uint32_t static_shared) {
    auto k = std::make_unique<Kernel>();
    k->name = f.name;
    k->display_name = f.display_name;
    uint32_t at = 0;
    for (const ptx::Variable& v : f.source->params) {
      at = (at + v.align - 1) / v.align * v.align;
      if (v.size > kParameterLimit || at + v.size > kParameterLimit) {
        errors_.push_back(fmt::format("ptx:{}:{}: error: the parameters of '{}' need more than {} bytes", v.at.line, v.at.column,
                                      f.display_name, kParameterLimit));
        return;
      }
      const bool may_count = !isa::is_float(v.type) && v.size >= 4 && v.size == static_cast<uint64_t>(isa::bytes_of(v.type));
      k->params.push_back({at, static_cast<uint32_t>(v.size), v.align, may_count});
      at += static_cast<uint32_t>(v.size);
    }
    k->param_bytes = at;
    k->static_shared = static_shared;
    k->constant_bytes = constant_bytes_;
    k->local_bytes = f.local_bytes;
    std::vector<std::optional<uint32_t>> known(image_.functions.size());
    k->call_bytes = deepest_calls(f, known);
    k->registers = registers(f);
    k->max_ntid = f.source->max_ntid;
    k->required_ntid = f.source->required_ntid;
    k->cluster = f.source->cluster;
    k->min_ctas_per_sm = f.source->min_ctas;
    k->ptx_version = f.module->version;
    k->target_sm = f.module->target_sm;
    k->code = &code;
    kernels_.push_back(std::move(k));
  }

 public:
  std::vector<uint64_t> owned_;

 private:
  struct Names {
    std::unordered_map<std::string, Place*> variables;
    std::unordered_map<std::string, FunctionCode*> functions;
  };
  DeviceMemory& memory_;
  const LoadOptions& options_;
  Program::Image& image_;
  std::vector<ProgramVariable>& variables_;
  std::vector<ProgramReference>& references_;
  std::vector<std::unique_ptr<Kernel>>& kernels_;
  std::vector<std::string> errors_;
  std::vector<Names> locals_;                               // by module
  std::unordered_map<std::string, Place*> globals_;
  std::unordered_map<std::string, FunctionCode*> functions_;
  std::vector<std::unique_ptr<Place>> places_;
  uint32_t constant_bytes_ = 0;
  std::vector<std::optional<uint32_t>> pressure_;           // by function, when asked
};

Program::Program() : image_(std::make_unique<Image>()) {}

Program::~Program() {
  if (!memory_) return;
  for (uint64_t base : owned_) memory_->free(base);
  for (const ProgramReference& r : references_) memory_->images.remove(r.handle);
}

Result<std::unique_ptr<Program>> Program::load(std::span<const std::string_view> ptx, DeviceMemory& memory, const LoadOptions& options) {
  std::unique_ptr<Program> program(new Program);
  program->memory_ = &memory;
  program->image_->device_cc = options.device_cc;
  program->image_->launch_entry = options.launch_entry;
  Linker linker(memory, options, *program->image_, program->variables_, program->references_, program->kernels_);
  auto r = linker.run(ptx);
  program->owned_ = linker.owned_;
  if (!r) return r.error();
  return program;
}

const Kernel* Program::find_kernel(std::string_view name) const {
  for (auto& k : kernels_)
    if (k->name == name) return k.get();
  return nullptr;
}

const ProgramReference* Program::find_reference(std::string_view name) const {
  for (auto& r : references_)
    if (r.name == name) return &r;
  return nullptr;
}

const ProgramVariable* Program::find_variable(std::string_view name) const {
  for (auto& v : variables_)
    if (v.name == name) return &v;
  return nullptr;
}

}  // namespace warpbeam::vm
