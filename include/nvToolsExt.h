// NVTX: annotations for profilers. Ranges that are pushed and popped go to who watches the program, through the runtime where the program
// has it; the rest is empty and returns what NVTX returns when no tool is attached.
#ifndef WARPBEAM_NVTOOLSEXT_H
#define WARPBEAM_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_API
#define NVTX_DECLSPEC static inline
#define NVTX_INLINE_STATIC static inline
#ifdef __cplusplus
#define NVTX_NULLPTR nullptr
#else
#define NVTX_NULLPTR NULL
#endif
#define NVTX_STATIC_CAST(type, value) ((type)(value))
#define NVTX_REINTERPRET_CAST(type, value) ((type)(value))
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_ERR_INIT_LOAD_PROPERTY 2
#define NVTX_ERR_INIT_ACCESS_LIBRARY 3
#define NVTX_ERR_INIT_LOAD_LIBRARY 4
#define NVTX_ERR_INIT_MISSING_LIBRARY_ENTRY_POINT 5
#define NVTX_ERR_INIT_FAILED_LIBRARY_ENTRY_POINT 6
#define NVTX_ERR_NO_INJECTION_LIBRARY_AVAILABLE 7
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st nvtxDomainRegistration;
typedef nvtxDomainRegistration* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st nvtxStringRegistration;
typedef nvtxStringRegistration* nvtxStringHandle_t;

typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef nvtxEventAttributes_v2 nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxEventAttributes_t)))

// Things that a program names: their class in the upper half, a number of it in the lower.
#define NVTX_RESOURCE_MAKE_TYPE(CLASS, INDEX) ((uint32_t)(NVTX_RESOURCE_CLASS_##CLASS) << 16 | (uint32_t)(INDEX))
#define NVTX_RESOURCE_CLASS_GENERIC 1
typedef enum nvtxResourceGenericType_t {
  NVTX_RESOURCE_TYPE_UNKNOWN = 0,
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 1),
  NVTX_RESOURCE_TYPE_GENERIC_HANDLE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 2),
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 3),
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 4)
} nvtxResourceGenericType_t;
typedef struct nvtxResourceHandle* nvtxResourceHandle_t;
typedef struct nvtxResourceAttributes_v0 {
  uint16_t version;
  uint16_t size;
  int32_t identifierType;
  union identifier_t {
    const void* pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef nvtxResourceAttributes_v0 nvtxResourceAttributes_t;
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxResourceAttributes_t)))

#ifdef __cplusplus
extern "C" {
#endif
const char* __warpbeamRangeName(int kind, const void* text) __attribute__((weak));
int __warpbeamRangePush(const char* domain, int kind, const void* text) __attribute__((weak));
int __warpbeamRangePop(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

#define WB_NVTX static inline
// Domains and registered strings are known by their names.
WB_NVTX const char* wb_nvtx_name(int kind, const void* text) { return __warpbeamRangeName && text ? __warpbeamRangeName(kind, text) : (const char*)0; }
WB_NVTX int wb_nvtx_push(nvtxDomainHandle_t domain, int kind, const void* text) {
  return __warpbeamRangePush ? __warpbeamRangePush((const char*)domain, kind, text) : NVTX_NO_PUSH_POP_TRACKING;
}
WB_NVTX int wb_nvtx_push_event(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return event && event->messageType ? wb_nvtx_push(domain, event->messageType, event->message.ascii) : wb_nvtx_push(domain, NVTX_MESSAGE_UNKNOWN, 0);
}
WB_NVTX int wb_nvtx_pop(void) { return __warpbeamRangePop ? __warpbeamRangePop() : NVTX_NO_PUSH_POP_TRACKING; }
WB_NVTX void nvtxInitialize(const void* reserved) { (void)reserved; }
WB_NVTX void nvtxMarkEx(const nvtxEventAttributes_t* event) { (void)event; }
WB_NVTX void nvtxMarkA(const char* message) { (void)message; }
WB_NVTX void nvtxMarkW(const wchar_t* message) { (void)message; }
WB_NVTX nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) { return (void)event, 0; }
WB_NVTX nvtxRangeId_t nvtxRangeStartA(const char* message) { return (void)message, 0; }
WB_NVTX nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) { return (void)message, 0; }
WB_NVTX void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }
WB_NVTX int nvtxRangePushEx(const nvtxEventAttributes_t* event) { return wb_nvtx_push_event((nvtxDomainHandle_t)0, event); }
WB_NVTX int nvtxRangePushA(const char* message) { return wb_nvtx_push((nvtxDomainHandle_t)0, NVTX_MESSAGE_TYPE_ASCII, message); }
WB_NVTX int nvtxRangePushW(const wchar_t* message) { return wb_nvtx_push((nvtxDomainHandle_t)0, NVTX_MESSAGE_TYPE_UNICODE, message); }
WB_NVTX int nvtxRangePop(void) { return wb_nvtx_pop(); }
WB_NVTX void nvtxNameCategoryA(uint32_t category, const char* name) { (void)category, (void)name; }
WB_NVTX void nvtxNameCategoryW(uint32_t category, const wchar_t* name) { (void)category, (void)name; }
WB_NVTX void nvtxNameOsThreadA(uint32_t thread, const char* name) { (void)thread, (void)name; }
WB_NVTX void nvtxNameOsThreadW(uint32_t thread, const wchar_t* name) { (void)thread, (void)name; }
WB_NVTX nvtxDomainHandle_t nvtxDomainCreateA(const char* name) { return (nvtxDomainHandle_t)wb_nvtx_name(NVTX_MESSAGE_TYPE_ASCII, name); }
WB_NVTX nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) { return (nvtxDomainHandle_t)wb_nvtx_name(NVTX_MESSAGE_TYPE_UNICODE, name); }
WB_NVTX void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
WB_NVTX void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  (void)domain, (void)event;
}
WB_NVTX nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return (void)domain, (void)event, 0;
}
WB_NVTX void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) { (void)domain, (void)id; }
WB_NVTX int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return wb_nvtx_push_event(domain, event);
}
WB_NVTX int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, wb_nvtx_pop(); }
WB_NVTX nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* string) {
  return (void)domain, (nvtxStringHandle_t)wb_nvtx_name(NVTX_MESSAGE_TYPE_ASCII, string);
}
WB_NVTX void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  (void)domain, (void)category, (void)name;
}
WB_NVTX nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* string) {
  return (void)domain, (nvtxStringHandle_t)wb_nvtx_name(NVTX_MESSAGE_TYPE_UNICODE, string);
}
WB_NVTX void nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category, const wchar_t* name) {
  (void)domain, (void)category, (void)name;
}
WB_NVTX nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t domain, nvtxResourceAttributes_t* attributes) {
  return (void)domain, (void)attributes, (nvtxResourceHandle_t)0;
}
WB_NVTX void nvtxDomainResourceDestroy(nvtxResourceHandle_t resource) { (void)resource; }

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#endif
