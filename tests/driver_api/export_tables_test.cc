// cuGetExportTable, called as the runtime that is linked into programs calls it.
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "cuda/driver/handshake.h"
#include "fixture.h"

namespace {

using warpbeam::cuda::driver::HandshakeDevice;
using warpbeam::cuda::driver::HandshakeFacts;

constexpr char kRuntime[] = "6bd5fb6c5bf4e74a8987d93912fd9df9";
constexpr char kContextStorage[] = "c693336e1121df11a8c368f355d89593";
constexpr char kHandshake[] = "d4082055bde6704b8d34ba123c66e1f2";
constexpr char kContextChecks[] = "263e88607cd2614392f6bbd5006dfa7e";
constexpr char kHooks[] = "a094798c2e742e7493f20800200c0a66";
constexpr char kThreadStorage[] = "42d85a8123f6cb478298f6e78a3aecdc";
constexpr char kAboutContexts[] = "21318c60971432488ca641ff7324c8f2";
constexpr char kHeap[] = "195bcbf4d67d024aacc51d29cea631ae";

CUuuid number(const char* digits) {
  CUuuid id;
  for (size_t i = 0; i < sizeof id.bytes; ++i) id.bytes[i] = static_cast<char>(std::stoi(std::string(digits + 2 * i, 2), nullptr, 16));
  return id;
}

class ExportTables : public Driver {
 protected:
  const void* const* table(const char* digits) {
    const CUuuid id = number(digits);
    const void* found = nullptr;
    EXPECT_EQ(cuGetExportTable(&found, &id), CUDA_SUCCESS) << digits;
    return static_cast<const void* const*>(found);
  }
  template <class Function>
  Function* entry(const char* digits, size_t index) {
    return reinterpret_cast<Function*>(const_cast<void*>(table(digits)[index]));
  }
};

TEST_F(ExportTables, begin_with_their_size) {
  EXPECT_EQ(reinterpret_cast<size_t>(table(kRuntime)[0]), 13 * sizeof(void*));
  EXPECT_EQ(reinterpret_cast<size_t>(table(kHandshake)[0]), 3 * sizeof(void*));
  EXPECT_EQ(reinterpret_cast<size_t>(table(kHeap)[0]), 3 * sizeof(void*));
}

TEST_F(ExportTables, entries_without_a_meaning_say_so) {
  for (size_t index : {3, 4, 5, 9, 10, 11, 13, 40})
    EXPECT_EQ(entry<CUresult(void*, void*)>(kRuntime, index)(nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED) << index;
  testing::internal::CaptureStderr();
  EXPECT_EQ(entry<CUresult(void*)>(kHeap, 1)(nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warpbeam: the program calls entry 1 of the driver's internal table of the heap, which Warpbeam does not have; it gets "
            "CUDA_ERROR_NOT_SUPPORTED\n");
}

TEST_F(ExportTables, load_code_of_the_program) {
  CUmodule loaded = nullptr;
  CUfunction found = nullptr;
  OK(entry<CUresult(CUmodule*, const void*)>(kRuntime, 1)(&loaded, kKernels));
  OK(cuModuleGetFunction(&found, loaded, "put"));
  OK(entry<CUresult(CUmodule*, const void*, void*, void*, unsigned)>(kRuntime, 6)(&loaded, kKernels, nullptr, nullptr, 0));
  OK(cuModuleGetFunction(&found, loaded, "put"));
  OK(entry<CUresult(const void*, CUmodule*, void*, void*, unsigned)>(kRuntime, 8)(kKernels, &loaded, nullptr, nullptr, 0));
  OK(cuModuleGetFunction(&found, loaded, "put"));
}

TEST_F(ExportTables, the_runtimes_context_outlives_the_drivers_use_of_it) {
  CUcontext primary = nullptr, retained = nullptr;
  OK(entry<CUresult(CUcontext*, CUdevice)>(kRuntime, 2)(&primary, device));
  OK(cuDevicePrimaryCtxRetain(&retained, device));
  EXPECT_EQ(primary, retained);
  OK(cuDevicePrimaryCtxRelease(device));
  unsigned flags = 0;
  int active = 0;
  OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_TRUE(active);
  EXPECT_EQ(entry<CUresult(CUcontext*, CUdevice)>(kRuntime, 2)(&primary, 99), CUDA_ERROR_INVALID_DEVICE);
  OK(cuDevicePrimaryCtxReset(device));
}

struct Ended {
  CUcontext context;
  void* key;
  void* value;
};
std::vector<Ended> ended;
void ends(CUcontext context, void* key, void* value) { ended.push_back({context, key, value}); }

TEST_F(ExportTables, keep_values_with_contexts_until_those_go) {
  auto* put = entry<CUresult(CUcontext, void*, void*, void (*)(CUcontext, void*, void*))>(kContextStorage, 0);
  auto* forget = entry<CUresult(CUcontext, void*)>(kContextStorage, 1);
  auto* get = entry<CUresult(void**, CUcontext, void*)>(kContextStorage, 2);
  int keys[2], values[2];
  void* found = nullptr;
  EXPECT_EQ(get(&found, context, &keys[0]), CUDA_ERROR_INVALID_HANDLE);
  OK(put(context, &keys[0], &values[0], ends));
  OK(put(nullptr, &keys[1], &values[1], ends));  // in the current context
  OK(get(&found, nullptr, &keys[0]));
  EXPECT_EQ(found, &values[0]);
  OK(get(&found, context, &keys[1]));
  EXPECT_EQ(found, &values[1]);
  OK(forget(context, &keys[0]));
  EXPECT_EQ(get(&found, context, &keys[0]), CUDA_ERROR_INVALID_HANDLE);
  ended.clear();
  OK(cuCtxDestroy(context));
  ASSERT_EQ(ended.size(), 1u) << "what was deleted is not told of";
  EXPECT_EQ(ended[0].context, context);
  EXPECT_EQ(ended[0].key, &keys[1]);
  EXPECT_EQ(ended[0].value, &values[1]);
  context = nullptr;
}

TEST_F(ExportTables, refuse_no_context_and_hook_nothing) {
  unsigned refused = 1;
  const void* why = nullptr;
  OK(entry<CUresult(CUcontext, unsigned*, const void**)>(kContextChecks, 2)(context, &refused, &why));
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(entry<unsigned()>(kContextChecks, 3)(), 0u);
  for (size_t index : {2, 6}) {
    void* flags = nullptr;
    size_t size = 0;
    entry<void(void**, size_t*)>(kHooks, index)(&flags, &size);
    ASSERT_NE(flags, nullptr);
    EXPECT_EQ(static_cast<uint32_t*>(flags)[size - 1], 0u);
  }
}

TEST_F(ExportTables, tell_of_contexts) {
  CUcontext found = nullptr;
  OK(entry<CUresult(CUcontext*)>(kThreadStorage, 2)(&found));
  EXPECT_EQ(found, context);
  unsigned long long id = 0, known = 1;
  OK(entry<CUresult(CUcontext, unsigned long long*)>(kAboutContexts, 4)(context, &id));
  OK(cuCtxGetId(context, &known));
  EXPECT_EQ(id, known);
}

// RFC 1319 has these.
TEST(Handshake, stands_on_md2) {
  using namespace std::string_view_literals;
  auto text = [](std::array<unsigned char, 16> digest) {
    std::string digits;
    for (unsigned char byte : digest) {
      digits += "0123456789abcdef"[byte >> 4];
      digits += "0123456789abcdef"[byte & 15];
    }
    return digits;
  };
  EXPECT_EQ(text(warpbeam::cuda::driver::md2({})), "8350e5a3e24c153df2275c9f80692773");
  EXPECT_EQ(text(warpbeam::cuda::driver::md2({"a"sv, "bc"sv})), "da853b0d3f88d99b30283a69e6ded6bb");
  EXPECT_EQ(text(warpbeam::cuda::driver::md2({"message digest"sv})), "ab4f496bfb2a530b219ff33031fe06b0");
}

TEST_F(ExportTables, answer_for_this_process_thread_and_time) {
  auto* ask = entry<CUresult(unsigned, uint64_t, std::array<uint64_t, 2>*)>(kHandshake, 1);
  constexpr unsigned kVersion = 12092;
  constexpr uint64_t kSeconds = 1700000000;
  std::array<uint64_t, 2> answer{}, later{};
  OK(ask(kVersion, kSeconds, &answer));
  OK(ask(kVersion, kSeconds + 1, &later));
  EXPECT_NE(answer, later);
  int version = 0, count = 0;
  OK(cuDriverGetVersion(&version));
  OK(cuDeviceGetCount(&count));
  std::vector<HandshakeDevice> devices(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    auto& known = devices[static_cast<size_t>(i)];
    OK(cuDeviceGetUuid(reinterpret_cast<CUuuid*>(known.uuid), i));
    OK(cuDeviceGetAttribute(&known.pci_domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, i));
    OK(cuDeviceGetAttribute(&known.pci_bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i));
    OK(cuDeviceGetAttribute(&known.pci_device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, i));
  }
  const auto thread = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(pthread_self())));
  const HandshakeFacts facts{
      static_cast<uint32_t>(version), kVersion, static_cast<uint32_t>(getpid()), thread, table(kRuntime), table(kHandshake),
      table(kHandshake)[1],           kSeconds};
  EXPECT_EQ(answer, warpbeam::cuda::driver::handshake_answer(facts, devices));
}

}  // namespace
