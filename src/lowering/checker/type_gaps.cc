// For the checker: gaps in structures, bytes between members, which nobody gives a value.
#include "lowering/checker/type_gaps.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecordLayout.h>
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>

#include <algorithm>

namespace warpbeam::lowering {
namespace {

using namespace clang;
using Bytes = llvm::BitVector;  // a bit for each: does it have a value?

constexpr uint64_t kMostBytes = 1 << 16;

const RecordDecl* definition(QualType type) {
  const RecordDecl* const record = type->getAsRecordDecl();
  const RecordDecl* const whole = record ? record->getDefinition() : nullptr;
  return whole && !whole->isInvalidDecl() && !whole->isDependentContext() ? whole : nullptr;
}

class Layouts {
 public:
  explicit Layouts(const ASTContext& context) : context_(context) {}

  // `16;4-8`; empty if there are no gaps.
  std::string gaps(const RecordDecl& record) const {
    const uint64_t bytes = context_.getASTRecordLayout(&record).getSize().getQuantity();
    if (!bytes || bytes > kMostBytes) return "";
    const Bytes used = used_by(record, bytes, true);
    std::string out;
    for (int at = used.find_first_unset(); at >= 0;) {
      const int next = used.find_next(at), end = next < 0 ? static_cast<int>(bytes) : next;
      out += ";" + std::to_string(at) + "-" + std::to_string(end);
      at = next < 0 ? -1 : used.find_next_unset(end);
    }
    return out.empty() ? out : std::to_string(bytes) + out;
  }

 private:
  Bytes used_by(QualType type, uint64_t bytes) const {
    if (const RecordDecl* record = definition(type)) return used_by(*record, bytes, true);
    const ConstantArrayType* const array = context_.getAsConstantArrayType(type);
    if (!array) return Bytes(bytes, true);
    const uint64_t size = context_.getTypeSizeInChars(array->getElementType()).getQuantity();
    const Bytes one = used_by(array->getElementType(), size);
    Bytes used(bytes);
    for (uint64_t k = 0; k < bytes && size; ++k) used[k] = one[k % size];
    return used;
  }
  // Virtual bases belong to the whole.
  Bytes used_by(const RecordDecl& record, uint64_t bytes, bool whole) const {
    const ASTRecordLayout& layout = context_.getASTRecordLayout(&record);
    Bytes used(bytes);
    bool first = true;
    for (const FieldDecl* field : record.fields()) {
      if (field->isUnnamedBitField()) continue;
      Bytes here(bytes);
      add_field(here, *field, layout.getFieldOffset(field->getFieldIndex()));
      if (record.isUnion() && !first) used &= here;
      else used |= here;
      first = false;
    }
    if (const auto* derived = llvm::dyn_cast<CXXRecordDecl>(&record)) add_bases(used, *derived, layout, whole);
    return used;
  }
  void add_field(Bytes& used, const FieldDecl& field, uint64_t bit) const {
    if (field.isBitField()) {
      used.set(bit / 8, std::min<uint64_t>((bit + field.getBitWidthValue(context_) + 7) / 8, used.size()));
    } else if (!field.getType()->isIncompleteType()) {
      add(used, used_by(field.getType(), context_.getTypeSize(field.getType()) / 8), bit / 8);
    }
  }
  void add_bases(Bytes& used, const CXXRecordDecl& record, const ASTRecordLayout& layout, bool whole) const {
    if (layout.hasOwnVFPtr()) add(used, Bytes(context_.getTypeSize(context_.VoidPtrTy) / 8, true), 0);
    for (const CXXBaseSpecifier& base : record.bases())
      if (const RecordDecl* of = definition(base.getType()); of && !base.isVirtual())
        add_base(used, *of, layout.getBaseClassOffset(llvm::cast<CXXRecordDecl>(of)));
    if (!whole) return;
    for (const CXXBaseSpecifier& base : record.vbases())
      if (const RecordDecl* of = definition(base.getType())) add_base(used, *of, layout.getVBaseClassOffset(llvm::cast<CXXRecordDecl>(of)));
  }
  void add_base(Bytes& used, const RecordDecl& base, CharUnits offset) const {
    add(used, used_by(base, context_.getASTRecordLayout(&base).getSize().getQuantity(), false), offset.getQuantity());
  }
  // What follows a base may lie in its end.
  static void add(Bytes& used, const Bytes& part, uint64_t from) {
    for (const unsigned k : part.set_bits())
      if (from + k < used.size()) used.set(from + k);
  }

  const ASTContext& context_;
};

// Structures that a type leads to.
void find_records(QualType first, llvm::SmallPtrSetImpl<const RecordDecl*>& seen) {
  llvm::SmallVector<QualType, 16> open{first};
  while (!open.empty()) {
    QualType type = open.pop_back_val().getCanonicalType();
    while (type->isArrayType() || type->isPointerType() || type->isReferenceType())
      type = (type->isArrayType() ? QualType(type->getArrayElementTypeNoTypeQual(), 0) : type->getPointeeType()).getCanonicalType();
    const RecordDecl* const record = definition(type);
    if (!record || !seen.insert(record).second) continue;
    for (const FieldDecl* field : record->fields()) open.push_back(field->getType());
    if (const auto* derived = llvm::dyn_cast<CXXRecordDecl>(record))
      for (const CXXBaseSpecifier& base : derived->bases()) open.push_back(base.getType());
  }
}

}  // namespace

std::set<std::string> gaps_of(const FunctionDecl& kernel, const ASTContext& context) {
  llvm::SmallPtrSet<const RecordDecl*, 16> records;
  for (const ParmVarDecl* parameter : kernel.parameters()) find_records(parameter->getType(), records);
  const Layouts layouts(context);
  std::set<std::string> all;
  for (const RecordDecl* record : records)
    if (!record->isUnion())
      if (std::string gaps = layouts.gaps(*record); !gaps.empty()) all.insert(std::move(gaps));
  return all;
}

}  // namespace warpbeam::lowering
