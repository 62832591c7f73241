// Choosing machine instructions, one PTX instruction after the other. An instruction that takes its producer's operands
// over (a * b + c) chooses as if the producer were not there; producers that nobody reads any more go away later
// (remove_unread), so nobody has to know whether all consumers agreed.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "assembly/draft.h"
#include "assembly/flow.h"

namespace warpbeam::assembly {

// What an instruction can read: registers, a number in its text, a word of the constant bank, a uniform register.
struct Source {
  enum Kind : uint8_t { Nothing, Register, Number, Constant, Uniform } kind = Nothing;
  bool apart = false;      // its two words are not neighbours: `part` and `upper`, either empty for zero
  uint8_t words = 1;
  Part part, upper;        // an empty upper part of two words: zero
  uint64_t number = 0;
  int32_t key = -1;        // of a constant
  bool in_registers() const { return kind == Register; }
  bool is_number(uint64_t n) const { return kind == Number && number == n; }
  bool is_uniform() const { return kind == Uniform || kind == Constant || kind == Number; }
};

// A value that does not change while a kernel runs: made where all its readers can see it, out of loops.
enum class Fixed : uint8_t { Parameter, Constant, Address, SharedAddress, Special, Number, Descriptor, SharedWindow };
struct Key {
  Fixed what{};
  std::string name;
  int64_t offset = 0;
  uint8_t words = 1;
  std::array<int32_t, 2> value{-1, -1};            // in general and uniform registers
  std::array<std::vector<uint32_t>, 2> used_in{};  // blocks
};

struct Step {
  Operation operation;
  std::string_view mnemonic;
};

// What is part of an instruction's name in the table is no modifier.
inline bool says(const ptx::Instruction& i, std::string_view part) { return i.form.row->syntax.find(part) != std::string_view::npos; }

// Of a product.
inline isa::Half half_of(const ptx::Instruction& i) {
  const std::string_view s = i.form.row->syntax;
  return s.find(".wide") != s.npos                                      ? isa::Half::Wide
         : s.find(".hi") != s.npos && i.form.mods.half != isa::Half::Lo ? isa::Half::Hi
                                                                        : isa::Half::Lo;
}

class Selector {
 public:
  Selector(const ptx::Module& module, const ptx::Function& function, const Target& target);
  DraftCode run(bool near);

  using Choose = void (Selector::*)(const ptx::Instruction& i);
  struct Rest {  // what a value leaves when divided by a power of two; 0: nothing is known yet
    uint8_t modulus, rest;
  };

 private:
  // --- what is known of the PTX (selector.cc)
  void count_registers();
  const ptx::Instruction* producer(const ptx::Operand& o, std::string_view opcode, bool single_use = true) const;
  const ptx::Operand* narrow_part(const ptx::Operand& from, bool is_signed, int bits) const;
  bool stable(uint32_t producer) const;
  // Where `to` is read, `from` still holds what it holds now: `to` needs no register of its own.
  bool steady(const ptx::Operand& from, int to);
  bool single(int reg) const { return definitions_[static_cast<size_t>(reg)] == 1; }
  bool only_half_arithmetic(int reg) const;  // reads it
  bool only_logic(int reg) const;            // reads it, in its own block
  int uses(int reg) const { return static_cast<int>(uses_[static_cast<size_t>(reg)]); }

  // --- operands
  Source source(const ptx::Operand& o, int words = 1);
  Source register_source(int reg);
  Source special_source(const ptx::Operand& o);
  Source low(const Source& s), high(const Source& s);
  Source half_of_constant(const Source& s, int half);
  Source together(const Source& s);  // neighbouring registers
  Source number(uint64_t n, int words = 1) const;
  Source constant(Fixed what, std::string name, int64_t offset, int words);
  Part general(const Source& s);     // in general registers, whatever it takes
  Part uniform(const Source& s);
  Part fixed_part(int32_t key, Bank bank);
  Part destination(int reg);
  Part destination(const ptx::Operand& o) { return o.reg >= 0 ? destination(o.reg) : Part{}; }
  Part temporary(int words = 1, Bank bank = Bank::General) { return code_.whole(code_.new_value(bank, words)); }
  static Part word(Part p, int k) { return p ? Part{p.value, static_cast<uint8_t>(p.first + k), 1} : p; }
  static Source of(Part p) {
    Source s;
    if (p) s.kind = Source::Register, s.part = p, s.words = p.count;
    return s;
  }
  bool make_same(int reg, const Source& s);  // the register needs no place of its own
  void copy_to(Part to, const Source& from);

  Draft& emit(Operation operation, std::string_view mnemonic, std::initializer_list<Part> writes, std::initializer_list<Source> reads);
  Draft& emit(Operation operation, std::string_view mnemonic, std::initializer_list<Part> writes, std::span<const Source> reads);
  Draft& emit_uniform(std::string_view mnemonic, Part to, std::span<const Source> reads);
  // A sequence, each step of which needs the one before it and the sources.
  void chain(Part to, std::initializer_list<Source> sources, std::initializer_list<Step> steps);
  // One integer instruction, on the uniform datapath where its operands are there.
  void integer(const ptx::Instruction& i, Operation operation, std::string_view mnemonic, std::initializer_list<Source> reads);
  bool to_uniform(const ptx::Operand& to, std::span<const Source> reads, bool wide = false) const;
  // Where all threads share the operands of something of two words: its place in uniform registers.
  Part wide_uniform(const ptx::Operand& to, std::initializer_list<Source> reads);

  // --- integers (select_integer.cc)
  void add(const ptx::Instruction& i);
  void add_words(const ptx::Instruction& i, bool minus);
  void add_long(const ptx::Instruction& i, bool minus);
  bool next_address(const ptx::Instruction& product, const Source& base, Part to);
  void carry_add(const ptx::Instruction& i);
  void carry_mad(const ptx::Instruction& i);
  void multiply(const ptx::Instruction& i);
  bool other_half(const ptx::Instruction& i);
  void multiply_add(const ptx::Instruction& i);
  void multiply_long(Part to, const Source& a, const Source& b, const Source& c);
  void multiply_high_long(Part to, const Source& a, const Source& b);
  void divide(const ptx::Instruction& i);
  void logic(const ptx::Instruction& i);
  bool halves(const ptx::Instruction& i);
  int bits_known(const ptx::Operand& o, int depth = 0);
  int bits_written(const ptx::Instruction& i, int depth);
  void gather_logic(const ptx::Operand& o, std::vector<ptx::Operand>& leaves, bool& grew) const;
  void lop3(const ptx::Instruction& i);
  void shift(const ptx::Instruction& i);
  void funnel(const ptx::Instruction& i);
  void permute(const ptx::Instruction& i);
  void fields(const ptx::Instruction& i);
  void bits(const ptx::Instruction& i);
  void absolute(const ptx::Instruction& i);
  void order(const ptx::Instruction& i);  // min, max
  void dot(const ptx::Instruction& i);
  void video(const ptx::Instruction& i);

  // --- compute capability 1.x (select_first.cc)
  void find_short_addresses();
  bool choose_first(const ptx::Instruction& i);
  bool has_16_bits(const ptx::Operand& o) const;
  bool add_to_known_address(const ptx::Instruction& i);
  void multiply_halves(Part to, const Source& a, const Source& b, const Source& c, bool small_a, bool small_b);
  void divide_by_floats(const ptx::Instruction& i);

  // --- comparisons and moves (select_moves.cc)
  void compare(const ptx::Instruction& i);
  void compare_to(const ptx::Instruction& i, Part to, Part other, const Source& chained);
  void set(const ptx::Instruction& i);
  void choose(const ptx::Instruction& i);  // selp, slct
  void predicates(const ptx::Instruction& i);
  void move(const ptx::Instruction& i);
  void convert(const ptx::Instruction& i);
  void address_space(const ptx::Instruction& i);

  // --- floats (select_float.cc)
  void float_arithmetic(const ptx::Instruction& i);
  void float_sign(const ptx::Instruction& i);
  void float_divide(const ptx::Instruction& i);
  void approximate(const ptx::Instruction& i);
  void test_property(const ptx::Instruction& i);
  void guarded_slow_path(std::initializer_list<Source> sources, Part to, std::initializer_list<Step> before,
                         std::initializer_list<Step> after);

  // --- memory (select_memory.cc)
  struct Place {  // of an access
    Source base;
    Source uniform;
    int64_t offset = 0;
    int32_t identity = -1;
    Rest align{1, 0};
    isa::Space space{};
  };
  Rest rest(const ptx::Operand& o, int depth = 0);
  Rest rest_of_result(const ptx::Instruction& i, int depth);
  Place address(const ptx::Operand& o, isa::Space space);
  Draft& access(const ptx::Instruction& i, Operation operation, std::string_view mnemonic, Order order, const Place& place, Part to,
                std::initializer_list<Part> data, int bytes);
  void load(const ptx::Instruction& i);
  void store(const ptx::Instruction& i);
  void load_parameter(const ptx::Instruction& i, const std::string& name, int64_t start);
  void atomic(const ptx::Instruction& i);
  void prefetch(const ptx::Instruction& i);
  Part gather(const ptx::Operand& o, isa::Type type);              // a vector into neighbouring registers
  Part gather_once(const ptx::Operand& o, isa::Type type);
  Part scatter_place(const ptx::Operand& o, isa::Type type);       // where a vector goes ...
  void scatter(const ptx::Operand& o, isa::Type type, Part from);  // ... and its parts from there

  // --- the rest (select_warp.cc)
  void branch(const ptx::Instruction& i);
  void leave(const ptx::Instruction& i);
  void call(const ptx::Instruction& i);
  void give_argument(const std::string& name, int64_t offset, const ptx::Operand& from, isa::Type type);
  void library_call(std::string_view name, const std::vector<Source>& arguments, Part to);
  void barrier(const ptx::Instruction& i);
  void fence(const ptx::Instruction& i);
  void warp(const ptx::Instruction& i);
  void matrix(const ptx::Instruction& i);
  void group_matrix(const ptx::Instruction& i);
  void tiles(const ptx::Instruction& i);
  int words_of_type(isa::Type t) const;
  void asynchronous(const ptx::Instruction& i);
  void image(const ptx::Instruction& i);
  void other(const ptx::Instruction& i);

  void place_fixed(bool near);
  int64_t parameter_at(const Key& key) const;
  static Choose choice_for(std::string_view opcode, isa::Kind kind, isa::Class cls);
  void make_fixed(const Key& key, Bank bank, std::vector<Draft>& text);

  const ptx::Module& module_;
  const ptx::Function& f_;
  const Target target_;
  const int cc_;
  DraftCode code_;
  std::vector<ptx::Block> blocks_;
  std::optional<Flow> flow_;
  std::vector<uint32_t> block_of_;
  std::vector<uint32_t> definitions_, uses_, logic_uses_, definition_, user_, latest_;  // by PTX register
  std::vector<uint32_t> first_user_, until_;                        // until where what stands for it is there
  std::vector<std::vector<uint32_t>> all_definitions_;              // of those with several
  std::vector<uint8_t> bits_;                                       // known ones; 0: not yet
  std::vector<Rest> rest_;
  std::vector<char> rest_known_;
  int rests_open_ = 0, rest_steps_ = 0;
  struct Gathered {
    std::vector<int> registers;
    uint32_t at;
    Part part;
  };
  std::vector<Gathered> gathered_;
  uint32_t gathered_in_ = kNoBlock;
  std::vector<int32_t> value_;                                      // by PTX register
  std::vector<Source> same_;                                        // by PTX register: what stands for it
  std::map<std::tuple<Fixed, std::string, int64_t, int>, int32_t> keys_by_name_;
  std::vector<Key> keys_;
  uint32_t at_ = 0, block_ = 0;
  const ptx::Instruction* now_ = nullptr;
  std::vector<char> uniform_;  // by PTX register
  std::vector<char> short_address_;  // by PTX register: of 64 bits, which are 32 there (1.x)
  std::vector<int32_t> carry_;  // the carry flag, a predicate
  struct Divisor {
    Source size;
    Part reciprocal, zero;
  };
  std::map<std::tuple<uint32_t, int, int32_t, int32_t, bool>, Divisor> divisors_;
  // Addresses of words: a base and a register times a size, of which that with another register added is no way away.
  struct Address {
    uint32_t block, since;  // when its index was written
    Part part;
  };
  std::map<std::tuple<int, int32_t, int32_t, uint64_t>, Address> addresses_;  // by the base's kind, what it is, register, size
  std::map<std::tuple<uint32_t, int32_t, int, int>, Part> copies_;  // in general registers, of uniform ones: by block and part
  bool near_ = false;
  std::map<int, std::pair<Source, Source>>
      remade_;  // addresses in shared memory that each access makes for itself where registers are short: index and variable
  std::map<int, Part> halves_;  // of products that were made whole: the other's register
  bool calls_ = false;
  std::map<std::string, std::vector<std::pair<int64_t, Source>>> arguments_;  // of the next call, by parameter
  std::map<std::string, Part> results_;                                       // of the last one
};

}  // namespace warpbeam::assembly
