#include "isa/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "isa/row.h"

namespace warpbeam::isa {
namespace {

using Opcodes = std::map<std::string_view, std::vector<const RowForm*>>;

Opcodes by_opcode() {
  Opcodes opcodes;
  for (const RowForm& form : all_forms()) opcodes[form.row->opcode].push_back(&form);
  return opcodes;
}

std::string type_names(TypeSet types) {
  std::string text;
  for (Type t : types) text += fmt::format(" {}", name_of(t));
  return text;
}

// What stands behind the names in a syntax line: `.rnd  .rn .rz .rm .rp`.
std::vector<std::string> explanations(const RowForm& form) {
  const Row& row = *form.row;
  std::vector<std::string> lines;
  if (row.syntax.find(".type") != std::string_view::npos) lines.push_back(".type " + type_names(row.types));
  if (row.syntax.find(".atype") != std::string_view::npos) lines.push_back(".atype " + type_names(row.atypes));
  std::vector<std::string_view> named;
  for (const Slot& slot : form.slots)
    for (const ModWord* word : slot.words) {
      const std::string written = fmt::format(".{}", word->group);
      if (row.syntax.find(written) == std::string_view::npos || written == word->word) continue;
      if (std::find(named.begin(), named.end(), word->group) != named.end()) continue;
      named.push_back(word->group);
      std::string text = written + " ";
      for (const ModWord& other : mod_words())
        if (other.group == word->group) text += fmt::format(" {}", other.word);
      lines.push_back(text);
    }
  return lines;
}

std::string since(const Row& row) { return fmt::format("PTX {}.{}, sm_{}", row.since.ptx / 10, row.since.ptx % 10, row.since.sm); }

int distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view name, const Opcodes& opcodes) {
  std::vector<std::pair<int, std::string_view>> found;
  for (const auto& [opcode, forms] : opcodes)
    if (const int d = distance(name, opcode); d <= 2) found.emplace_back(d, opcode);
  std::sort(found.begin(), found.end());
  std::string text;
  for (size_t k = 0; k < found.size() && k < 3; ++k) text += fmt::format("{}'{}'", k ? ", " : "", found[k].second);
  return text;
}

}  // namespace

std::string isa_reference(std::string_view name) {
  const Opcodes opcodes = by_opcode();
  std::string text;
  if (name.empty()) {
    for (const auto& [opcode, forms] : opcodes)
      text += fmt::format("{:<12} {} form{}\n", opcode, forms.size(), forms.size() == 1 ? "" : "s");
    return text + fmt::format("{} instructions in {} forms\n", opcodes.size(), all_rows().size());
  }
  const std::string_view opcode = name.substr(0, name.find('.'));
  const auto it = opcodes.find(opcode);
  if (it == opcodes.end()) {
    const std::string near = nearest(opcode, opcodes);
    return fmt::format("there is no instruction '{}'{}\n", opcode, near.empty() ? "" : fmt::format("; near to it: {}", near));
  }
  for (const RowForm* form : it->second) {
    text += fmt::format("{}\n", form->row->syntax);
    for (const std::string& line : explanations(*form)) text += fmt::format("    {}\n", line);
    text += fmt::format("    {}, class {}\n", since(*form->row), name_of(form->row->cls));
    if (!form->row->about.empty()) text += fmt::format("    {}\n", form->row->about);
  }
  return text;
}

std::string isa_page() {
  const Opcodes opcodes = by_opcode();
  std::string text =
      "# Instructions\n\n"
      "Generated from the instruction table: build the target `isa_page` to write this page anew. `warpbeam isa NAME` prints "
      "the forms of one instruction.\n\n"
      "In a syntax line `{…}` may be left out, `(.a|.b)` is one of these words, `.type` and `.atype` are types of the lists "
      "below it. Operands have the type `.type` unless they say another (`b:u32`); `d:wide` has twice its width, `#b` is a "
      "number, `d{|p}` may carry a second, predicate destination. PTX and sm tell where a form first appeared; single types "
      "and words of it may be younger.\n\n";
  text += fmt::format("{} instructions in {} forms.\n", opcodes.size(), all_rows().size());
  for (const auto& [opcode, forms] : opcodes) {
    text += fmt::format("\n## {}\n", opcode);
    for (const RowForm* form : forms) {
      text += fmt::format("\n```\n{}\n```\n", form->row->syntax);
      if (!form->row->about.empty()) text += fmt::format("{}\n\n", form->row->about);
      text += fmt::format("- {}; {}\n", since(*form->row), name_of(form->row->cls));
      for (const std::string& line : explanations(*form)) {
        const size_t space = line.find(' ');
        text += fmt::format("- `{}`: `{}`\n", line.substr(0, space), line.substr(line.find_first_not_of(' ', space)));
      }
    }
  }
  return text;
}

}  // namespace warpbeam::isa
