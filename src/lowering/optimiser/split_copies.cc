// Copies of small structures, for clang's device pass (it loads this library as a plugin of LLVM's).
//
// `float4 v = p[i]; v.x *= 2; q[i] = v;` is one load and one store of 16 bytes with nvcc. clang makes two calls of memcpy of it,
// of which LLVM's NVPTX back end knows nothing better than pairs of 8 bytes, and where only some members are used on their
// own, the others take the way through local memory. Here such a memcpy becomes loads and stores as wide as its alignment
// allows, before the optimiser takes structures apart. It does the rest.
#include "lowering/optimiser/split_copies.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "lowering/checker/unset_variables.h"

namespace warpbeam::lowering {
namespace {

constexpr uint64_t kMostBytes = 64;
constexpr unsigned kConstantSpace = 4;

struct Members {
  bool pointers = false;  // which must not become integers
  bool eight = false;     // scalars of eight bytes
  uint64_t narrowest = 16, widest = 0;
};

void look_at(const llvm::Type* type, const llvm::DataLayout& layout, Members& m) {
  if (const auto* s = llvm::dyn_cast<llvm::StructType>(type)) {
    for (const llvm::Type* member : s->elements()) look_at(member, layout, m);
  } else if (const auto* a = llvm::dyn_cast<llvm::ArrayType>(type)) {
    look_at(a->getElementType(), layout, m);
  } else if (type->isPointerTy()) {
    m.pointers = true;
  } else {
    const uint64_t bytes = layout.getTypeStoreSize(const_cast<llvm::Type*>(type->getScalarType()));
    m.eight = m.eight || bytes == 8;
    m.narrowest = std::min(m.narrowest, bytes);
    m.widest = std::max(m.widest, bytes);
  }
}

// uchar4, short2 and the like.
bool narrow_vector(const Members& m, uint64_t bytes, uint64_t align) {
  return m.narrowest == m.widest && m.widest < 4 && bytes <= align && (bytes == 2 * m.widest || bytes == 4 * m.widest);
}

// uchar3, short3 and the like: no access is as wide as all of it.
bool narrow_members(const Members& m, uint64_t bytes, uint64_t align) {
  constexpr uint64_t kMostMembers = 16;
  return m.narrowest == m.widest && m.widest < 4 && m.widest <= align && bytes <= kMostMembers * m.widest;
}

llvm::Type* vector_of(llvm::LLVMContext& c, uint64_t member, uint64_t bytes) {
  return llvm::FixedVectorType::get(llvm::Type::getIntNTy(c, static_cast<unsigned>(8 * member)), static_cast<unsigned>(bytes / member));
}

// The piece of a copy that begins `offset` bytes in.
llvm::Type* piece(llvm::LLVMContext& c, uint64_t offset, uint64_t bytes, uint64_t align, bool eight) {
  uint64_t width = std::min<uint64_t>(align, 16);
  while (width > 4 && (offset % width || offset + width > bytes)) width /= 2;
  llvm::Type* word = eight && width >= 8 ? llvm::Type::getInt64Ty(c) : llvm::Type::getInt32Ty(c);
  const auto count = static_cast<unsigned>(8 * width / word->getIntegerBitWidth());
  return count > 1 ? llvm::FixedVectorType::get(word, count) : word;
}

struct Piece {
  llvm::Type* type;
  uint64_t at;
};
using Pieces = llvm::SmallVector<Piece, 32>;

void scalars(llvm::Type* type, uint64_t at, const llvm::DataLayout& layout, Pieces& out) {
  constexpr uint64_t kMost = 64;
  if (auto* s = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* places = layout.getStructLayout(s);
    for (unsigned k = 0; k < s->getNumElements(); ++k) scalars(s->getElementType(k), at + places->getElementOffset(k), layout, out);
  } else if (auto* a = llvm::dyn_cast<llvm::ArrayType>(type)) {
    for (uint64_t k = 0; k < a->getNumElements() && out.size() <= kMost; ++k)
      scalars(a->getElementType(), at + k * layout.getTypeAllocSize(a->getElementType()), layout, out);
  } else {
    out.push_back({type, at});
  }
}

// `struct { char c; float f; int64_t n; short s; }`: nvcc moves each member by itself and leaves the gaps between them out, while what
// is behind the last one goes byte by byte up to the next word. So it is without gaps where some members are narrower than a word. A copy of the structure
// itself says where its members are; none: it is not one, or not of that kind.
Pieces members_of(const llvm::MemCpyInst& copy, const llvm::AllocaInst& local, const Members& m, uint64_t bytes) {
  const llvm::MDNode* fields = copy.getMetadata(llvm::LLVMContext::MD_tbaa_struct);
  const llvm::DataLayout& layout = copy.getModule()->getDataLayout();
  if (!fields || !llvm::isa<llvm::StructType>(local.getAllocatedType()) || layout.getTypeAllocSize(local.getAllocatedType()) != bytes)
    return {};
  uint64_t used = 0;  // a bit for each byte
  for (unsigned k = 0; k + 2 < fields->getNumOperands(); k += 3) {
    const auto number = [&](unsigned n) { return llvm::mdconst::extract<llvm::ConstantInt>(fields->getOperand(n))->getZExtValue(); };
    for (uint64_t at = number(k); at < std::min(bytes, number(k) + number(k + 1)); ++at) used |= uint64_t{1} << at;
  }
  Pieces all, members;
  scalars(local.getAllocatedType(), 0, layout, all);
  uint64_t moved = 0, end = 0;
  for (const Piece& p : all) {
    const uint64_t width = layout.getTypeStoreSize(p.type);
    const uint64_t bits = (width < 64 ? (uint64_t{1} << width) - 1 : ~uint64_t{0}) << p.at;
    if (!(used & bits)) continue;
    members.push_back(p);
    moved |= bits;
    end = p.at + width;
  }
  const uint64_t whole = bytes < 64 ? (uint64_t{1} << bytes) - 1 : ~uint64_t{0};
  if ((used & ~moved) || members.empty()) return {};
  if (moved == whole && (m.narrowest >= 4 || m.narrowest == m.widest)) return {};
  if (!is_for_checker())
    for (uint64_t width = 0; end < bytes; end += width) {
      width = end % 4 || bytes - end < 4 ? 1 : 4;
      members.push_back({llvm::Type::getIntNTy(copy.getContext(), static_cast<unsigned>(8 * width)), end});
    }
  return members;
}

// All is read before anything is written: the two places may be one.
void move(llvm::MemCpyInst& copy, llvm::ArrayRef<Piece> pieces, llvm::Align align) {
  llvm::IRBuilder<> b(&copy);
  llvm::SmallVector<llvm::Value*, 32> values;
  for (const Piece& p : pieces)
    values.push_back(b.CreateAlignedLoad(p.type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), copy.getSource(), p.at),
                                         llvm::commonAlignment(align, p.at)));
  for (const auto& [value, p] : llvm::zip(values, pieces))
    b.CreateAlignedStore(value, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), copy.getDest(), p.at), llvm::commonAlignment(align, p.at));
  copy.eraseFromParent();
}

bool split(llvm::MemCpyInst& copy) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
  if (!length || copy.isVolatile()) return false;
  const uint64_t bytes = length->getZExtValue();
  const uint64_t align = std::min(copy.getDestAlign().valueOrOne().value(), copy.getSourceAlign().valueOrOne().value());
  if (bytes > kMostBytes) return false;
  const llvm::Value* ends[] = {llvm::getUnderlyingObject(copy.getDest()), llvm::getUnderlyingObject(copy.getSource())};
  // Arguments of kernels and tables of constants are read in place as long as a local copy of them is one.
  const bool to_local = llvm::isa<llvm::AllocaInst>(ends[0]);
  if (const auto* a = llvm::dyn_cast<llvm::Argument>(ends[1]); to_local && a && a->hasByValAttr()) return false;
  if (const auto* g = llvm::dyn_cast<llvm::GlobalVariable>(ends[1]);
      to_local && g && (g->isConstant() || g->getAddressSpace() == kConstantSpace))
    return false;
  const llvm::DataLayout& layout = copy.getModule()->getDataLayout();
  Members members;
  int locals = 0;
  const llvm::AllocaInst* one_local = nullptr;
  for (const llvm::Value* end : ends)
    if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(end)) {
      look_at(local->getAllocatedType(), layout, members);
      one_local = local;
      ++locals;
    }
  if (locals > 1) return false;
  if (const Pieces pieces = one_local ? members_of(copy, *one_local, members, bytes) : Pieces(); !pieces.empty()) {
    move(copy, pieces, llvm::Align(align));
    return true;
  }
  if (members.pointers) return false;
  const bool narrow = narrow_vector(members, bytes, align), apart = !narrow && narrow_members(members, bytes, align);
  if (!narrow && !apart && (bytes < 8 || bytes % 4 || align < 4 || members.narrowest < 4)) return false;
  // From one place in memory to another nobody looks at the members. Of eight bytes at once some belong to a member, where four
  // may be a gap between two, which has no value.
  members.eight = members.eight || locals == 0;

  Pieces pieces;
  for (uint64_t at = 0; at < bytes;) {
    llvm::Type* type = narrow  ? vector_of(copy.getContext(), members.widest, bytes)
                       : apart ? llvm::Type::getIntNTy(copy.getContext(), static_cast<unsigned>(8 * members.widest))
                               : piece(copy.getContext(), at, bytes, align, members.eight);
    pieces.push_back({type, at});
    at += layout.getTypeStoreSize(type);
  }
  move(copy, pieces, llvm::Align(align));
  return true;
}

}  // namespace

llvm::PreservedAnalyses ForgetTypes::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  for (llvm::Function& f : module)
    for (llvm::Instruction& i : llvm::instructions(f)) {
      i.setMetadata(llvm::LLVMContext::MD_tbaa, nullptr);
      i.setMetadata(llvm::LLVMContext::MD_tbaa_struct, nullptr);
    }
  return llvm::PreservedAnalyses::none();
}

llvm::PreservedAnalyses SplitCopies::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::MemCpyInst*, 16> copies;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&i)) copies.push_back(copy);
  bool changed = false;
  for (llvm::MemCpyInst* copy : copies) changed = split(*copy) || changed;
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
