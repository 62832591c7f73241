#include "jit/promote.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <bit>
#include <vector>

namespace warpbeam::jit {
namespace {

using llvm::BasicBlock;
using llvm::BitVector;
using llvm::Value;

bool only_loaded_and_stored(const llvm::AllocaInst& variable) {
  if (variable.isArrayAllocation()) return false;
  return llvm::all_of(variable.users(), [&](const llvm::User* user) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user))
      return !load->isVolatile() && load->getType() == variable.getAllocatedType();
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store && !store->isVolatile() && store->getPointerOperand() == &variable &&
           store->getValueOperand()->getType() == variable.getAllocatedType();
  });
}

class Promotion {
 public:
  explicit Promotion(llvm::Function& f) : f_(f) {}

  void run() {
    for (llvm::Instruction& i : f_.getEntryBlock())
      if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&i); variable && only_loaded_and_stored(*variable)) {
        numbers_[variable] = static_cast<unsigned>(variables_.size());
        variables_.push_back(variable);
      }
    if (variables_.empty()) return;
    llvm::EliminateUnreachableBlocks(f_);
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&f_)) {
      places_[block] = static_cast<unsigned>(blocks_.size());
      blocks_.push_back({block, {}, {}, {}, {}, {}});
    }
    find_uses();
    find_wanted();
    find_loops();
    now_.resize(variables_.size());
    for (Block& block : blocks_) go_through(block);
    for (const auto& [phi, block, bit] : phis_)
      for (BasicBlock* before : llvm::predecessors(block)) phi->addIncoming(value_behind(blocks_[places_[before]], bit), before);
    for (llvm::AllocaInst* variable : variables_) variable->eraseFromParent();
  }

 private:
  // Bits stand for variables whose value goes from block to block; most live and die within one.
  struct Block {
    BasicBlock* block;
    BitVector set;               // here
    BitVector wanted;            // from the blocks before
    BitVector passed;            // to blocks behind
    std::vector<Value*> values;  // of those in `passed`
    std::vector<unsigned> rank;  // how many bits of `passed` lie below each of its words
  };
  struct Phi {
    llvm::PHINode* phi;
    BasicBlock* block;
    unsigned bit;
  };

  const llvm::AllocaInst* variable_of(const Value* pointer) const {
    const auto* variable = llvm::dyn_cast_or_null<llvm::AllocaInst>(pointer);
    return variable && numbers_.contains(variable) ? variable : nullptr;
  }

  // Which variables are set in a block, and which are read there before they are set.
  void find_uses() {
    constexpr unsigned kNowhere = ~0u;
    std::vector<unsigned> set_in(variables_.size(), kNowhere);
    std::vector<std::pair<unsigned, unsigned>> sets, wants;  // block, variable
    bits_.assign(variables_.size(), kNone);
    for (unsigned at = 0; at < blocks_.size(); ++at)
      for (llvm::Instruction& i : *blocks_[at].block) {
        const llvm::AllocaInst* variable = variable_of(llvm::getLoadStorePointerOperand(&i));
        if (!variable) continue;
        const unsigned number = numbers_[variable];
        if (set_in[number] == at) continue;
        if (llvm::isa<llvm::StoreInst>(i)) {
          set_in[number] = at;
          sets.emplace_back(at, number);
          continue;
        }
        if (bits_[number] == kNone) {
          bits_[number] = static_cast<unsigned>(by_bit_.size());
          by_bit_.push_back(number);
        }
        wants.emplace_back(at, number);
      }
    const auto count = static_cast<unsigned>(by_bit_.size());
    for (Block& block : blocks_) {
      block.set.resize(count);
      block.wanted.resize(count);
      block.passed.resize(count);
    }
    for (const auto& [at, number] : sets)
      if (bits_[number] != kNone) blocks_[at].set.set(bits_[number]);
    for (const auto& [at, number] : wants) blocks_[at].wanted.set(bits_[number]);
  }

  // What a block wants and does not set itself, the blocks before it must pass on.
  void find_wanted() {
    BitVector through;
    for (bool changed = true; changed;) {
      changed = false;
      for (Block& block : llvm::reverse(blocks_)) {
        for (BasicBlock* behind : llvm::successors(block.block)) block.passed |= blocks_[places_[behind]].wanted;
        through = block.passed;
        through.reset(block.set);
        if (!through.test(block.wanted)) continue;  // nothing in it that is not wanted already
        block.wanted |= through;
        changed = true;
      }
    }
    for (Block& block : blocks_) {
      unsigned below = 0;
      for (const uintptr_t word : block.passed.getData()) {
        block.rank.push_back(below);
        below += static_cast<unsigned>(std::popcount(word));
      }
      block.values.reserve(below);
    }
  }

  // A value that no block of a loop sets is the same in each of its rounds.
  void find_loops() {
    const llvm::DominatorTree dominators(f_);
    loops_.analyze(dominators);
    for (const llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      BitVector& set = set_in_loop_[loop->getHeader()];
      set.resize(static_cast<unsigned>(by_bit_.size()));
      for (BasicBlock* block : loop->blocks()) set |= blocks_[places_[block]].set;
    }
  }

  Value* value_behind(const Block& block, unsigned bit) const {
    const uintptr_t below = block.passed.getData()[bit / kWord] & ((uintptr_t{1} << bit % kWord) - 1);
    return block.values[block.rank[bit / kWord] + static_cast<unsigned>(std::popcount(below))];
  }

  // Whether what a variable that the block wants is worth there depends on rounds of a loop that are yet to come.
  bool changes_behind(BasicBlock* block, unsigned bit) const {
    const llvm::Loop* loop = loops_.getLoopFor(block);
    for (BasicBlock* before : llvm::predecessors(block)) {
      if (places_.at(before) < places_.at(block)) continue;
      // A way back that is no loop's: nobody knows.
      if (!loop || loop->getHeader() != block || !loop->contains(before) || set_in_loop_.at(block)[bit]) return true;
    }
    return false;
  }

  // The value with which the block begins.
  Value* value_at(BasicBlock* block, unsigned bit) {
    llvm::Type* type = variables_[by_bit_[bit]]->getAllocatedType();
    if (llvm::pred_empty(block)) return llvm::UndefValue::get(type);
    bool same = !changes_behind(block, bit);
    Value* value = nullptr;
    for (BasicBlock* before : llvm::predecessors(block)) {
      if (!same) break;
      if (places_.at(before) >= places_.at(block)) continue;
      Value* theirs = value_behind(blocks_[places_.at(before)], bit);
      same = !value || theirs == value;
      value = theirs;
    }
    if (same) return value;
    auto* phi = llvm::PHINode::Create(type, llvm::pred_size(block), "", block->begin());
    phis_.push_back({phi, block, bit});
    return phi;
  }

  void go_through(Block& block) {
    for (const unsigned bit : block.wanted.set_bits()) now_[by_bit_[bit]] = value_at(block.block, bit);
    for (llvm::Instruction& i : llvm::make_early_inc_range(*block.block)) {
      const llvm::AllocaInst* variable = variable_of(llvm::getLoadStorePointerOperand(&i));
      if (!variable) continue;
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) now_[numbers_[variable]] = store->getValueOperand();
      else i.replaceAllUsesWith(now_[numbers_[variable]]);
      i.eraseFromParent();
    }
    for (const unsigned bit : block.passed.set_bits()) block.values.push_back(now_[by_bit_[bit]]);
  }

  static constexpr unsigned kWord = 8 * sizeof(uintptr_t), kNone = ~0u;
  llvm::Function& f_;
  std::vector<llvm::AllocaInst*> variables_;
  llvm::DenseMap<const llvm::AllocaInst*, unsigned> numbers_;
  std::vector<Block> blocks_;  // in reverse post order
  llvm::DenseMap<const BasicBlock*, unsigned> places_;
  std::vector<unsigned> bits_, by_bit_;  // of variables; variables of bits
  llvm::LoopInfo loops_;
  llvm::DenseMap<const BasicBlock*, BitVector> set_in_loop_;
  std::vector<Value*> now_;  // of each variable
  std::vector<Phi> phis_;
};

}  // namespace

void promote_variables(llvm::Function& function) { Promotion(function).run(); }

}  // namespace warpbeam::jit
