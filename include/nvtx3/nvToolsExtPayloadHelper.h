// NVTX: schemas of structures, written beside their members:
//
//   NVTX_DEFINE_STRUCT_WITH_SCHEMA(point, "a point", NVTX_PAYLOAD_ENTRIES(
//       (int, x, TYPE_INT, "x"), (const char, (name, 8), TYPE_CSTRING, "its name", NULL, 8)))
//
// defines the structure `point`, `pointSchema` for its members and `pointAttr` to register. Behind the type of an entry may
// stand its name, a description, a length and a flag; before the entries the schema's name, specifiers, flags and number. As
// many as sixteen entries.
#ifndef WARPBEAM_NVTOOLSEXTPAYLOADHELPER_H
#define WARPBEAM_NVTOOLSEXTPAYLOADHELPER_H

#include "nvToolsExtPayload.h"

#define NVTX_PAYLOAD_ENTRIES
// In the place of a type: that of the schema with this number. What is put before it goes away.
#define NVTX_PAYLOAD_NESTED(schemaId) NESTED schemaId
#define NVTX_PAYLOAD_ENTRY_NESTED

#define WB_NVTX_COUNT(...) WB_NVTX_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define WB_NVTX_COUNT_(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, count, ...) count
#define WB_NVTX_FIRST(first, ...) first
#define WB_NVTX_BARE(...) __VA_ARGS__

// what(structure, entry) for each.
#define WB_NVTX_EACH(what, structure, ...) \
  WB_NVTX_JOIN(WB_NVTX_EACH_, WB_NVTX_COUNT(__VA_ARGS__))(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_1(what, structure, entry) what(structure, entry)
#define WB_NVTX_EACH_2(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_1(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_3(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_2(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_4(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_3(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_5(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_4(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_6(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_5(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_7(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_6(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_8(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_7(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_9(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_8(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_10(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_9(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_11(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_10(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_12(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_11(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_13(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_12(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_14(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_13(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_15(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_14(what, structure, __VA_ARGS__)
#define WB_NVTX_EACH_16(what, structure, entry, ...) what(structure, entry) WB_NVTX_EACH_15(what, structure, __VA_ARGS__)

// A member may be `(name, length)`.
#define WB_NVTX_IS_LIST(member) WB_NVTX_SECOND(WB_NVTX_PROBE member, 0, unused)
#define WB_NVTX_PROBE(...) unused, 1
#define WB_NVTX_SECOND(...) WB_NVTX_SECOND_(__VA_ARGS__)
#define WB_NVTX_SECOND_(first, second, ...) second
#define WB_NVTX_NAME(member) WB_NVTX_JOIN(WB_NVTX_NAME_, WB_NVTX_IS_LIST(member))(member)
#define WB_NVTX_NAME_0(member) member
#define WB_NVTX_NAME_1(member) WB_NVTX_FIRST member
#define WB_NVTX_DECLARATOR(member) WB_NVTX_JOIN(WB_NVTX_DECLARATOR_, WB_NVTX_IS_LIST(member))(member)
#define WB_NVTX_DECLARATOR_0(member) member
#define WB_NVTX_DECLARATOR_1(member) WB_NVTX_JOIN(WB_NVTX_ARRAY_, WB_NVTX_COUNT member) member
#define WB_NVTX_ARRAY_1(name) name
#define WB_NVTX_ARRAY_2(name, length) name[length]

#define WB_NVTX_DECLARE(structure, entry) WB_NVTX_DECLARE_(WB_NVTX_BARE entry, unused)
#define WB_NVTX_DECLARE_(...) WB_NVTX_DECLARE__(__VA_ARGS__)
#define WB_NVTX_DECLARE__(type, member, ...) type WB_NVTX_DECLARATOR(member);

// What an entry leaves out.
#define WB_NVTX_COMPLETE(...) WB_NVTX_JOIN(WB_NVTX_COMPLETE_, WB_NVTX_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define WB_NVTX_COMPLETE_2(...) __VA_ARGS__, NVTX_NULLPTR, NVTX_NULLPTR, 0, UNUSED
#define WB_NVTX_COMPLETE_3(...) __VA_ARGS__, NVTX_NULLPTR, 0, UNUSED
#define WB_NVTX_COMPLETE_4(...) __VA_ARGS__, 0, UNUSED
#define WB_NVTX_COMPLETE_5(...) __VA_ARGS__, UNUSED
#define WB_NVTX_COMPLETE_6(...) __VA_ARGS__
#define WB_NVTX_ENTRY(structure, entry) WB_NVTX_ENTRY_(structure, WB_NVTX_COMPLETE entry)
#define WB_NVTX_ENTRY_(...) WB_NVTX_ENTRY__(__VA_ARGS__)
#define WB_NVTX_ENTRY__(structure, member, type, name, description, length, flag)                         \
  {NVTX_PAYLOAD_ENTRY_FLAG_##flag, NVTX_PAYLOAD_ENTRY_##type, name, description, length,                  \
   offsetof(structure, member), NVTX_NULLPTR, NVTX_NULLPTR},
#define WB_NVTX_TYPED_ENTRY(structure, entry) WB_NVTX_TYPED_ENTRY_(structure, WB_NVTX_BARE entry)
#define WB_NVTX_TYPED_ENTRY_(...) WB_NVTX_TYPED_ENTRY__(__VA_ARGS__)
#define WB_NVTX_TYPED_ENTRY__(structure, type, member, ...) \
  WB_NVTX_ENTRY_(structure, WB_NVTX_COMPLETE(WB_NVTX_NAME(member), __VA_ARGS__))

#define WB_NVTX_SCHEMA(structure, entry, specifiers, name, flags, id, fields, entries)                           \
  specifiers nvtxPayloadSchemaEntry_t structure##Schema[] = {                                                    \
      WB_NVTX_EACH(entry, structure, WB_NVTX_BARE entries){0, 0, NVTX_NULLPTR, NVTX_NULLPTR, 0, 0, NVTX_NULLPTR, \
                                                           NVTX_NULLPTR}};                                       \
  specifiers nvtxPayloadSchemaAttr_t structure##Attr = {                                                         \
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |                             \
          NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | (fields),    \
      name, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, flags, structure##Schema, WB_NVTX_COUNT entries, sizeof(structure), 0, id, \
      NVTX_NULLPTR};
#define WB_NVTX_SCHEMA_1(structure, entry, entries) \
  WB_NVTX_SCHEMA(structure, entry, , NVTX_NULLPTR, NVTX_PAYLOAD_SCHEMA_FLAG_NONE, 0, 0, entries)
#define WB_NVTX_SCHEMA_2(structure, entry, name, entries) WB_NVTX_SCHEMA_3(structure, entry, name, , entries)
#define WB_NVTX_SCHEMA_3(structure, entry, name, specifiers, entries)                       \
  WB_NVTX_SCHEMA(structure, entry, specifiers, name, NVTX_PAYLOAD_SCHEMA_FLAG_NONE, 0,      \
                 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME, entries)
#define WB_NVTX_SCHEMA_4(structure, entry, name, specifiers, flags, entries) \
  WB_NVTX_SCHEMA(structure, entry, specifiers, name, flags, 0,               \
                 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS, entries)
#define WB_NVTX_SCHEMA_5(structure, entry, name, specifiers, flags, id, entries)                      \
  WB_NVTX_SCHEMA(structure, entry, specifiers, name, flags, id,                                       \
                 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |         \
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,                                        \
                 entries)
#define WB_NVTX_TYPED_STRUCT(structure, ...) \
  WB_NVTX_JOIN(WB_NVTX_TYPED_STRUCT_, WB_NVTX_COUNT(__VA_ARGS__))(structure, __VA_ARGS__)
#define WB_NVTX_TYPED_STRUCT_1(structure, entries) NVTX_DEFINE_STRUCT(structure, WB_NVTX_BARE entries)
#define WB_NVTX_TYPED_STRUCT_2(structure, p1, entries) NVTX_DEFINE_STRUCT(structure, WB_NVTX_BARE entries)
#define WB_NVTX_TYPED_STRUCT_3(structure, p1, p2, entries) NVTX_DEFINE_STRUCT(structure, WB_NVTX_BARE entries)
#define WB_NVTX_TYPED_STRUCT_4(structure, p1, p2, p3, entries) NVTX_DEFINE_STRUCT(structure, WB_NVTX_BARE entries)
#define WB_NVTX_TYPED_STRUCT_5(structure, p1, p2, p3, p4, entries) NVTX_DEFINE_STRUCT(structure, WB_NVTX_BARE entries)

#define NVTX_DEFINE_STRUCT(struct_id, ...) \
  typedef struct { WB_NVTX_EACH(WB_NVTX_DECLARE, struct_id, __VA_ARGS__) } struct_id;
#define NVTX_DEFINE_SCHEMA_FOR_STRUCT(struct_id, ...) \
  WB_NVTX_JOIN(WB_NVTX_SCHEMA_, WB_NVTX_COUNT(__VA_ARGS__))(struct_id, WB_NVTX_ENTRY, __VA_ARGS__)
#define NVTX_DEFINE_STRUCT_WITH_SCHEMA(struct_id, ...) \
  WB_NVTX_TYPED_STRUCT(struct_id, __VA_ARGS__)         \
  WB_NVTX_JOIN(WB_NVTX_SCHEMA_, WB_NVTX_COUNT(__VA_ARGS__))(struct_id, WB_NVTX_TYPED_ENTRY, __VA_ARGS__)
#define NVTX_PAYLOAD_SCHEMA_REGISTER(domain, struct_id) nvtxPayloadSchemaRegister(domain, &struct_id##Attr);
#define NVTX_DEFINE_SCHEMA_FOR_STRUCT_AND_REGISTER(domain, struct_id, ...) \
  NVTX_DEFINE_SCHEMA_FOR_STRUCT(struct_id, __VA_ARGS__)                    \
  const uint64_t struct_id##_schemaId = NVTX_PAYLOAD_SCHEMA_REGISTER(domain, struct_id)
#define NVTX_DEFINE_STRUCT_WITH_SCHEMA_AND_REGISTER(domain, struct_id, ...) \
  NVTX_DEFINE_STRUCT_WITH_SCHEMA(struct_id, __VA_ARGS__)                    \
  const uint64_t struct_id##_schemaId = NVTX_PAYLOAD_SCHEMA_REGISTER(domain, struct_id)

#endif
