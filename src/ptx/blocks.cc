#include "ptx/blocks.h"

#include <algorithm>

namespace warpbeam::ptx {

bool ends_block(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  return op == "bra" || op == "brx" || op == "ret" || op == "exit" || op == "trap";
}

std::vector<Block> split_blocks(const Function& f) {
  const uint32_t n = static_cast<uint32_t>(f.body.size());
  std::vector<char> leader(n + 1);
  leader[0] = 1;
  for (const auto& [name, at] : f.labels) leader[std::min(at, n)] = 1;
  for (uint32_t k = 0; k < n; ++k)
    if (ends_block(f.body[k])) leader[k + 1] = 1;
  std::vector<Block> blocks;
  std::vector<uint32_t> block_of(n + 1);
  for (uint32_t k = 0; k <= n; ++k) {
    if (leader[k]) {
      if (!blocks.empty()) blocks.back().end = k;
      blocks.push_back({k, n, true, {}});
    }
    block_of[k] = static_cast<uint32_t>(blocks.size() - 1);
  }
  const auto block_at = [&](const std::string& label) {
    const auto it = f.labels.find(label);
    return block_of[it == f.labels.end() ? 0 : it->second];
  };
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    Block& block = blocks[b];
    const Instruction* last = block.end > block.begin ? &f.body[block.end - 1] : nullptr;
    block.falls = !last || !ends_block(*last) || last->guard >= 0;
    if (block.falls && b + 1 < blocks.size()) block.successors.push_back(b + 1);
    const std::string_view op = last ? last->form.row->opcode : "";
    if (op == "bra") block.successors.push_back(block_at(last->operands[0].name));
    if (op == "brx")
      if (auto t = f.branch_targets.find(last->operands[1].name); t != f.branch_targets.end())
        for (const std::string& label : t->second) block.successors.push_back(block_at(label));
  }
  return blocks;
}

}  // namespace warpbeam::ptx
