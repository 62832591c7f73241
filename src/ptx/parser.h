// The parser's state, shared by its three chapters: module.cc-level declarations (parser.cc), statements of a body
// (statements.cc) and constant expressions with initialisers (constants.cc).
#pragma once
#include <fmt/format.h>

#include <optional>

#include "ptx/lexer.h"
#include "ptx/module.h"

namespace warpbeam::ptx {

class Parser {
 public:
  explicit Parser(std::string_view text);
  ParseResult run();

 private:
  // --- declarations (parser.cc)
  void parse_module();
  void parse_directive();
  void parse_version();
  void parse_target();
  void parse_file();
  void skip_section();
  std::string_view parse_pragma();
  void parse_function(bool entry, Linkage linkage);
  std::vector<Variable> parse_params(isa::Space space);
  void parse_function_directives(Function& f);
  // After `.global`, `.shared` …: everything up to the semicolon.
  void parse_variables(isa::Space space, Linkage linkage, std::vector<Variable>& into, bool in_body, Reference reference = {});
  bool parse_variable_head(Variable& v);
  bool parse_variable_words(Variable& v, int& vec);  // .align, .attribute, vector, type
  bool parse_variable_name(Variable& v, int vec);    // and the array part
  static bool is_space_word(std::string_view word, isa::Space& space);

  // --- bodies (statements.cc)
  void parse_body(Function& f);
  void parse_statement(Function& f);
  void parse_registers(Function& f);
  void parse_label_declaration(Function& f, const Lexeme& label);
  void parse_loc();
  void parse_vector_move(Function& f, Instruction&& i, std::vector<std::string_view> words);
  bool parse_index(const Function& f, const Lexeme& name, Operand& out);
  void parse_instruction(Function& f, bool guarded, bool negated, int guard);
  bool parse_operand(Function& f, Operand& out, int depth = 0);
  bool parse_address(Function& f, Operand& out);
  // --- images.cc
  bool parse_image_operands(Function& f, Instruction& i);
  bool parse_image_place(Function& f, std::vector<Operand>& into);
  void check_image_operands(const Function& f, const Instruction& i);
  void parse_reference_state();

  void parse_call(Function& f, Instruction& i);
  void parse_branch(Function& f, Instruction& i, bool table);
  bool name_operand(Function& f, const Lexeme& name, Operand& out);
  void check_operands(const Function& f, Instruction& i);
  void resolve_labels(Function& f);
  bool vector_operand(const Lexeme& name, Operand& out);

  // --- written_out.cc
  void settle_operands(Function& f, Instruction& i);
  int add_register(Function& f, isa::Type type);
  void write_out(Function& f, const Instruction& like, std::string_view op, std::initializer_list<std::string_view> words,
                 std::vector<Operand> operands);
  void write_out_sum(Function& f, const Instruction& i, Operand& o);
  void write_out_index(Function& f, const Instruction& i, Operand& o);
  void write_out_place(Function& f, const Instruction& i, Operand& o);
  bool write_out_lop3(Function& f, Instruction& i, std::vector<std::string_view>& words);
  void write_out_multimem(Function& f, const Instruction& i, const std::vector<std::string_view>& words);

  // --- register_arguments.cc
  void declare_register_params(Function& f);
  void lower_register_arguments(Function& f);

  // --- constants (constants.cc)
  struct Constant {
    bool is_float = false;
    bool single = false;   // a 0f literal: `bits` are a float's
    bool is_unsigned = false;  // an integer that says U, or that needs all 64 bits
    uint64_t bits = 0;     // integer value or the bits of a double
  };
  std::optional<Constant> parse_number(const Lexeme& word);
  void parse_initialiser(Variable& v);
  void parse_init_value(Variable& v, uint64_t& offset, int depth);
  static void store_value(Variable& v, uint64_t offset, uint64_t bits, uint64_t bytes);

  // --- constant expressions (expressions.cc)
  struct Integer {
    uint64_t bits = 0;
    bool is_unsigned = false;
    bool is_float = false;  // then they are those of a double
  };
  bool parse_constant_expression(Operand& out);
  static bool operator_follows(Lexer ahead);
  std::optional<int64_t> parse_integer_expression(int min_precedence = 0);
  std::optional<Integer> parse_operators(int min_precedence, int depth);
  std::optional<Integer> parse_choice(Integer condition, int depth);
  std::optional<Integer> parse_primary(int depth);
  std::optional<Integer> apply(const struct Operator& op, Position at, Integer left, Integer right);
  std::optional<Integer> apply_to_floats(const struct Operator& op, Position at, Integer left, Integer right);

  // --- small tools
  template <class... A>
  void error(Position at, fmt::format_string<A...> text, A&&... args) {
    fail(at, fmt::format(text, std::forward<A>(args)...));
  }
  void fail(Position at, std::string message);
  bool expect(char c);
  bool accept(char c) {
    if (!lex_.peek().is(c)) return false;
    lex_.take();
    return true;
  }
  bool accept(std::string_view word) {
    if (!lex_.peek().is(word)) return false;
    lex_.take();
    return true;
  }
  void recover();  // to the next statement

  struct Scope {
    std::unordered_map<std::string, int> registers;           // name -> index
    std::unordered_map<std::string, std::string> variables;   // name -> unique name
    // Ranges `%r<100>`: prefix -> (count, first index). Kept as ranges, since texts declare tens of thousands.
    std::map<std::string, std::pair<uint32_t, int>> ranges;
    struct Vectors {
      int first = 0, parts = 0;
      int64_t count = -1;
    };  // `.reg .v4 .f32 v<8>`: 8 of them; -1: just one
    std::unordered_map<std::string, Vectors> vectors;
    int id = 0;
  };
  void open_scope();
  std::string scoped(int scope, std::string_view name) const { return fmt::format("{}:{}", scope, name); }
  // The name under which a label, a target table or a prototype seen from `scope` is stored, or "".
  template <class Table>
  std::string lookup(const Table& table, int scope, std::string_view name) const {
    for (int s = scope; s >= 0; s = scope_parents_[s])
      if (std::string key = scoped(s, name); table.contains(key)) return key;
    return "";
  }
  std::optional<int> find_register(const std::string& name) const;
  // The registers a vector register stands for: the first one and how many.
  std::optional<std::pair<int, int>> find_vector(const std::string& name) const;

  Lexer lex_;
  std::unique_ptr<Module> module_ = std::make_unique<Module>();
  std::vector<Diagnostic> diagnostics_;
  std::vector<Scope> scopes_;
  uint32_t loc_file_ = 0, loc_line_ = 0, loc_column_ = 0;
  int unique_ = 0;
  bool takes_sums_ = false;     // the operand at hand: `%r1 + 4`, `table[%r1]`
  bool moves_vectors_ = false;  // the instruction at hand: mov.v2, mov.v4
  uint64_t function_registers_ = 0, total_registers_ = 0, total_families_ = 0;
  std::vector<int> scope_parents_;  // of the scopes of the current function
};

}  // namespace warpbeam::ptx
