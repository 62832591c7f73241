// The generic functions' descriptors: made, asked, changed. Those for constant data are the same objects.
#include <cstring>

#include "libraries/cusparse/call.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr cusparseStatus_t kDone = CUSPARSE_STATUS_SUCCESS, kWrong = CUSPARSE_STATUS_INVALID_VALUE;

bool known(cusparseIndexType_t type) { return type >= CUSPARSE_INDEX_16U && type <= CUSPARSE_INDEX_64I; }
bool known(cusparseIndexBase_t base) { return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE; }
bool known(cudaDataType type) { return warpbeam::numeric::bytes_of(type) != 0; }

template <class... Pointers>
bool all(Pointers... p) {
  return ((p != nullptr) && ...);
}

template <class Handle>
cusparseStatus_t make(Handle* out, const cusparseSpMatDescr& a) {
  if (!out || a.rows < 0 || a.columns < 0 || a.count < 0 || !known(a.offset_type) || !known(a.index_type) || !known(a.base)) return kWrong;
  if (!known(a.type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  *out = new cusparseSpMatDescr(a);
  return kDone;
}

template <class P>
cusparseStatus_t get(const cusparseSpMatDescr* a, cusparseFormat_t format, int64_t* rows, int64_t* columns, int64_t* count, P** offsets,
                     P** indices, P** values, cusparseIndexType_t* offset_type, cusparseIndexType_t* type, cusparseIndexBase_t* base,
                     cudaDataType* value) {
  if (!a || a->format != format || !all(rows, columns, count, offsets, indices, values, offset_type, type, base, value)) return kWrong;
  *rows = a->rows, *columns = a->columns, *count = a->count;
  *offsets = a->offsets, *indices = a->indices, *values = a->values;
  *offset_type = a->offset_type, *type = a->index_type, *base = a->base, *value = a->type;
  return kDone;
}

template <class Descriptor, class P>
cusparseStatus_t get_values(const Descriptor* d, P** values) {
  if (!d || !values) return kWrong;
  *values = d->values;
  return kDone;
}

cusparseStatus_t set_pointers(cusparseSpMatDescr* a, cusparseFormat_t format, void* offsets, void* indices, void* values) {
  if (!a || a->format != format) return kWrong;
  a->offsets = offsets, a->indices = indices, a->values = values;
  return kDone;
}

void* plain(const void* p) { return const_cast<void*>(p); }

}  // namespace

#define WB_COMPRESSED(Name, FORMAT, CONST, Const)                                                                                         \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##Name(                                                                                 \
      cusparse##Const##SpMatDescr_t* out, int64_t rows, int64_t columns, int64_t count, CONST void* offsets, CONST void* indices,         \
      CONST void* values, cusparseIndexType_t offset_type, cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType value) {      \
    return make(out, {FORMAT, rows, columns, count, plain(offsets), plain(indices), plain(values), offset_type, type, base, value});      \
  }                                                                                                                                       \
  WB_EXPORT cusparseStatus_t cusparse##Const##Name##Get(                                                                                  \
      cusparse##Const##SpMatDescr_t a, int64_t* rows, int64_t* columns, int64_t* count, CONST void** offsets, CONST void** indices,       \
      CONST void** values, cusparseIndexType_t* offset_type, cusparseIndexType_t* type, cusparseIndexBase_t* base, cudaDataType* value) { \
    return get(a, FORMAT, rows, columns, count, offsets, indices, values, offset_type, type, base, value);                                \
  }
#define WB_DESCRIPTORS(CONST, Const)                                                                                                       \
  WB_COMPRESSED(Csr, CUSPARSE_FORMAT_CSR, CONST, Const)                                                                                    \
  WB_COMPRESSED(Csc, CUSPARSE_FORMAT_CSC, CONST, Const)                                                                                    \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##Coo(cusparse##Const##SpMatDescr_t* out, int64_t rows, int64_t columns, int64_t count,  \
                                                        CONST void* at_rows, CONST void* indices, CONST void* values,                      \
                                                        cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType value) {          \
    return make(out, {CUSPARSE_FORMAT_COO, rows, columns, count, plain(at_rows), plain(indices), plain(values), type, type, base, value}); \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparse##Const##CooGet(cusparse##Const##SpMatDescr_t a, int64_t* rows, int64_t* columns, int64_t* count,     \
                                                     CONST void** at_rows, CONST void** indices, CONST void** values,                      \
                                                     cusparseIndexType_t* type, cusparseIndexBase_t* base, cudaDataType* value) {          \
    return get(a, CUSPARSE_FORMAT_COO, rows, columns, count, at_rows, indices, values, type, type, base, value);                           \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##BlockedEll(                                                                            \
      cusparse##Const##SpMatDescr_t* out, int64_t rows, int64_t columns, int64_t block, int64_t block_columns, CONST void* indices,        \
      CONST void* values, cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType value) {                                        \
    if (block < 1 || block_columns < 0 || rows % block || columns % block || block_columns % block) return kWrong;                         \
    return make(out, {CUSPARSE_FORMAT_BLOCKED_ELL, rows, columns, rows * block_columns, nullptr, plain(indices), plain(values), type,      \
                      type, base, value, block, block_columns});                                                                           \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparse##Const##BlockedEllGet(                                                                               \
      cusparse##Const##SpMatDescr_t a, int64_t* rows, int64_t* columns, int64_t* block, int64_t* block_columns, CONST void** indices,      \
      CONST void** values, cusparseIndexType_t* type, cusparseIndexBase_t* base, cudaDataType* value) {                                    \
    int64_t count = 0;                                                                                                                     \
    CONST void* offsets = nullptr;                                                                                                         \
    cusparseIndexType_t same = CUSPARSE_INDEX_32I;                                                                                         \
    if (!block || !block_columns) return kWrong;                                                                                           \
    const cusparseStatus_t status =                                                                                                        \
        get(a, CUSPARSE_FORMAT_BLOCKED_ELL, rows, columns, &count, &offsets, indices, values, &same, type, base, value);                   \
    if (status == kDone) *block = a->block, *block_columns = a->block_columns;                                                             \
    return status;                                                                                                                         \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##Bsr(cusparse##Const##SpMatDescr_t* out, int64_t rows, int64_t columns, int64_t count,  \
                                                        int64_t height, int64_t width, CONST void* offsets, CONST void* indices,           \
                                                        CONST void* values, cusparseIndexType_t offset_type, cusparseIndexType_t type,     \
                                                        cusparseIndexBase_t base, cudaDataType value, cusparseOrder_t order) {             \
    if (height < 1 || width < 1 || rows < 0 || columns < 0 || count < 0) return kWrong;                                                    \
    if (order != CUSPARSE_ORDER_ROW && order != CUSPARSE_ORDER_COL) return kWrong;                                                         \
    cusparseSpMatDescr a{CUSPARSE_FORMAT_BSR,                                                                                              \
                         rows * height,                                                                                                    \
                         columns * width,                                                                                                  \
                         count * height * width,                                                                                           \
                         plain(offsets),                                                                                                   \
                         plain(indices),                                                                                                   \
                         plain(values),                                                                                                    \
                         offset_type,                                                                                                      \
                         type,                                                                                                             \
                         base,                                                                                                             \
                         value,                                                                                                            \
                         height};                                                                                                          \
    a.block_width = width, a.block_order = order;                                                                                          \
    return make(out, a);                                                                                                                   \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##SlicedEll(cusparse##Const##SpMatDescr_t* out, int64_t rows, int64_t columns,           \
                                                              int64_t count, int64_t stored, int64_t slice, CONST void* offsets,           \
                                                              CONST void* indices, CONST void* values, cusparseIndexType_t offset_type,    \
                                                              cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType value) {    \
    if (count < 0 || stored < count || slice < 1) return kWrong;                                                                           \
    cusparseSpMatDescr a{CUSPARSE_FORMAT_SLICED_ELLPACK,                                                                                   \
                         rows,                                                                                                             \
                         columns,                                                                                                          \
                         stored,                                                                                                           \
                         plain(offsets),                                                                                                   \
                         plain(indices),                                                                                                   \
                         plain(values),                                                                                                    \
                         offset_type,                                                                                                      \
                         type,                                                                                                             \
                         base,                                                                                                             \
                         value,                                                                                                            \
                         slice};                                                                                                           \
    a.padding = stored - count;                                                                                                            \
    return make(out, a);                                                                                                                   \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##SpVec(cusparse##Const##SpVecDescr_t* out, int64_t size, int64_t count,                 \
                                                          CONST void* indices, CONST void* values, cusparseIndexType_t type,               \
                                                          cusparseIndexBase_t base, cudaDataType value) {                                  \
    if (!out || size < 0 || count < 0 || count > size || !known(type) || !known(base)) return kWrong;                                      \
    if (!known(value)) return CUSPARSE_STATUS_NOT_SUPPORTED;                                                                               \
    *out = new cusparseSpVecDescr{size, count, plain(indices), plain(values), type, base, value};                                          \
    return kDone;                                                                                                                          \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparse##Const##SpVecGet(cusparse##Const##SpVecDescr_t v, int64_t* size, int64_t* count,                     \
                                                       CONST void** indices, CONST void** values, cusparseIndexType_t* type,               \
                                                       cusparseIndexBase_t* base, cudaDataType* value) {                                   \
    if (!all(v, size, count, indices, values, type, base, value)) return kWrong;                                                           \
    *size = v->size, *count = v->count, *indices = v->indices, *values = v->values;                                                        \
    *type = v->index, *base = v->base, *value = v->type;                                                                                   \
    return kDone;                                                                                                                          \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##DnVec(cusparse##Const##DnVecDescr_t* out, int64_t size, CONST void* values,            \
                                                          cudaDataType value) {                                                            \
    if (!out || size < 0) return kWrong;                                                                                                   \
    if (!known(value)) return CUSPARSE_STATUS_NOT_SUPPORTED;                                                                               \
    *out = new cusparseDnVecDescr{size, plain(values), value};                                                                             \
    return kDone;                                                                                                                          \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparse##Const##DnVecGet(cusparse##Const##DnVecDescr_t v, int64_t* size, CONST void** values,                \
                                                       cudaDataType* value) {                                                              \
    if (!all(v, size, values, value)) return kWrong;                                                                                       \
    *size = v->size, *values = v->values, *value = v->type;                                                                                \
    return kDone;                                                                                                                          \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparseCreate##Const##DnMat(cusparse##Const##DnMatDescr_t* out, int64_t rows, int64_t columns, int64_t lead, \
                                                          CONST void* values, cudaDataType value, cusparseOrder_t order) {                 \
    if (!out || rows < 0 || columns < 0 || (order != CUSPARSE_ORDER_COL && order != CUSPARSE_ORDER_ROW)) return kWrong;                    \
    if (lead < (order == CUSPARSE_ORDER_COL ? rows : columns)) return kWrong;                                                              \
    if (!known(value)) return CUSPARSE_STATUS_NOT_SUPPORTED;                                                                               \
    *out = new cusparseDnMatDescr{rows, columns, lead, plain(values), value, order};                                                       \
    return kDone;                                                                                                                          \
  }                                                                                                                                        \
  WB_EXPORT cusparseStatus_t cusparse##Const##DnMatGet(cusparse##Const##DnMatDescr_t m, int64_t* rows, int64_t* columns, int64_t* lead,    \
                                                       CONST void** values, cudaDataType* value, cusparseOrder_t* order) {                 \
    if (!all(m, rows, columns, lead, values, value, order)) return kWrong;                                                                 \
    *rows = m->rows, *columns = m->columns, *lead = m->lead, *values = m->values, *value = m->type, *order = m->order;                     \
    return kDone;                                                                                                                          \
  }                                                                                                                                        \
  WB_GET_VALUES(SpVec, CONST, Const)                                                                                                       \
  WB_GET_VALUES(DnVec, CONST, Const) WB_GET_VALUES(SpMat, CONST, Const) WB_GET_VALUES(DnMat, CONST, Const)
#define WB_GET_VALUES(Name, CONST, Const)                                                                              \
  WB_EXPORT cusparseStatus_t cusparse##Const##Name##GetValues(cusparse##Const##Name##Descr_t d, CONST void** values) { \
    return get_values(d, values);                                                                                      \
  }
WB_DESCRIPTORS(, )
WB_DESCRIPTORS(const, Const)

#define WB_COMMON(Name)                                                                               \
  WB_EXPORT cusparseStatus_t cusparseDestroy##Name(cusparseConst##Name##Descr_t descr) {              \
    delete descr;                                                                                     \
    return kDone;                                                                                     \
  }                                                                                                   \
  WB_EXPORT cusparseStatus_t cusparse##Name##SetValues(cusparse##Name##Descr_t descr, void* values) { \
    if (!descr) return kWrong;                                                                        \
    descr->values = values;                                                                           \
    return kDone;                                                                                     \
  }
WB_COMMON(SpVec)
WB_COMMON(DnVec)
WB_COMMON(SpMat)
WB_COMMON(DnMat)

#define WB_ASK(name, Descriptor, Type, field)                      \
  WB_EXPORT cusparseStatus_t name(Descriptor descr, Type* value) { \
    if (!descr || !value) return kWrong;                           \
    *value = descr->field;                                         \
    return kDone;                                                  \
  }
WB_ASK(cusparseSpVecGetIndexBase, cusparseConstSpVecDescr_t, cusparseIndexBase_t, base)
WB_ASK(cusparseSpMatGetFormat, cusparseConstSpMatDescr_t, cusparseFormat_t, format)
WB_ASK(cusparseSpMatGetIndexBase, cusparseConstSpMatDescr_t, cusparseIndexBase_t, base)

WB_EXPORT cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t a, int64_t* rows, int64_t* columns, int64_t* count) {
  if (!all(a, rows, columns, count)) return kWrong;
  *rows = a->rows, *columns = a->columns, *count = a->count - a->padding;
  return kDone;
}

WB_EXPORT cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t a, cusparseSpMatAttribute_t attribute, void* data,
                                                     size_t size) {
  if (!a || !data || size < sizeof(int)) return kWrong;
  if (attribute != CUSPARSE_SPMAT_FILL_MODE && attribute != CUSPARSE_SPMAT_DIAG_TYPE) return kWrong;
  const int value = attribute == CUSPARSE_SPMAT_FILL_MODE ? static_cast<int>(a->fill) : static_cast<int>(a->diag);
  std::memcpy(data, &value, sizeof value);
  return kDone;
}
WB_EXPORT cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t a, cusparseSpMatAttribute_t attribute, void* data, size_t size) {
  int value = 0;
  if (!a || !data || size < sizeof value) return kWrong;
  std::memcpy(&value, data, sizeof value);
  if (value != 0 && value != 1) return kWrong;
  if (attribute == CUSPARSE_SPMAT_FILL_MODE) a->fill = static_cast<cusparseFillMode_t>(value);
  else if (attribute == CUSPARSE_SPMAT_DIAG_TYPE) a->diag = static_cast<cusparseDiagType_t>(value);
  else return kWrong;
  return kDone;
}

WB_EXPORT cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t a, void* offsets, void* indices, void* values) {
  return set_pointers(a, CUSPARSE_FORMAT_CSR, offsets, indices, values);
}
WB_EXPORT cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t a, void* offsets, void* indices, void* values) {
  return set_pointers(a, CUSPARSE_FORMAT_CSC, offsets, indices, values);
}
WB_EXPORT cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t a, void* rows, void* columns, void* values) {
  return set_pointers(a, CUSPARSE_FORMAT_COO, rows, columns, values);
}

WB_EXPORT cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t a, int count, int64_t offset_stride, int64_t index_stride,
                                                      int64_t stride) {
  if (!a || a->format != CUSPARSE_FORMAT_BSR || count < 1 || offset_stride < 0 || index_stride < 0 || stride < 0) return kWrong;
  a->batch = count, a->offset_stride = offset_stride, a->index_stride = index_stride, a->stride = stride;
  return kDone;
}
WB_EXPORT cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t a, int count, int64_t offset_stride, int64_t stride) {
  if (!a || a->format != CUSPARSE_FORMAT_CSR || count < 1 || offset_stride < 0 || stride < 0) return kWrong;
  a->batch = count, a->offset_stride = offset_stride, a->stride = stride;
  return kDone;
}
WB_EXPORT cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t a, int count, int64_t stride) {
  if (!a || a->format != CUSPARSE_FORMAT_COO || count < 1 || stride < 0) return kWrong;
  a->batch = count, a->offset_stride = a->stride = stride;
  return kDone;
}
WB_EXPORT cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t a, int* count) {
  if (!all(a, count)) return kWrong;
  *count = a->batch;
  return kDone;
}

WB_EXPORT cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t m, int count, int64_t stride) {
  if (!m || count < 1 || stride < 0) return kWrong;
  m->batch = count, m->stride = stride;
  return kDone;
}
WB_EXPORT cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t m, int* count, int64_t* stride) {
  if (!all(m, count, stride)) return kWrong;
  *count = m->batch, *stride = m->stride;
  return kDone;
}
