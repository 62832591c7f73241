// Products of matrices in registers: compiled code calls what works on whole registers, and leaves the same as the handlers. Here
// the places in memory are checked against the interpreter's, element by element; products against an H200's in tests/tensor.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

std::string registers(const char* prefix, int count) {
  std::string out = "{";
  for (int k = 0; k < count; ++k) out += fmt::format("{}{}{}", k ? ", " : "", prefix, k);
  return out + "}";
}

// Numbers whose halves are no infinities or NaNs, of both signs, then `body`; the first warp's lane 0 has its address in %out.
std::string with_numbers(const std::string& body, uint32_t keep = 0x87ff87ff, uint32_t add = 0x38003800) {
  return fmt::format(
      ".reg .b32 %a<16>, %b<16>, %x<16>; .reg .f32 %y<16>; .reg .f64 %za, %zb, %zc<2>;\n"
      "mov.u32 %r1, %t; L: mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %d1, %out; ld.global.u32 %r2, [%d1]; and.b32 %r2, %r2, {}; add.u32 %r2, %r2, {}; st.global.u32 [%d1], %r2; "
      "add.u32 %r1, %r1, %s; setp.lt.u32 %p1, %r1, 4096; @%p1 bra L; bar.sync 0;\n{}\nret;",
      keep, add, body);
}

TEST_F(Engines, AgreeOnFragmentsInMemory) {
  for (const char* shape : {"m16n16k16", "m32n8k16", "m8n32k16"})
    for (const char* layouts : {"row.row", "row.col", "col.row", "col.col"})
      for (const char* sums : {"f32", "f16"}) {
        const std::string a(layouts, 3), b(layouts + 4, 3);
        const bool single = sums == std::string_view("f32");
        const std::string c = registers(single ? "%y" : "%x", single ? 8 : 4);
        both(
            with_numbers(fmt::format(
                "mov.u32 %r3, 40;\nwmma.load.a.sync.aligned.{0}.{2}.global.f16 {3}, [%out+2], %r3;\nwmma.load.b.sync.aligned.{1}.{2}.global.f16 {4}, [%out+4096], %r3;\n"
                "wmma.load.c.sync.aligned.{1}.{2}.global.{5} {6}, [%out+8192], %r3;\nwmma.mma.sync.aligned.{0}.{1}.{2}.{5}.{5} {6}, {3}, {4}, {6};\n"
                "wmma.store.d.sync.aligned.{0}.{2}.global.{5} [%out+8192], {6}, %r3;",
                a, b, shape, registers("%a", 8), registers("%b", 8), sums, c)),
            {1, 1, 1}, {32, 1, 1}, 0);
        EXPECT_TRUE(planned("matrices")) << plan_;
        EXPECT_FALSE(planned("wmma")) << plan_;  // among the handlers
      }
}

TEST_F(Engines, AgreeOnFragmentsOfOtherTypes) {
  for (const char* layouts : {"row.col", "col.row"}) {
    const std::string a(layouts, 3), b(layouts + 4, 3);
    for (const char* type : {"s8", "u8"})
      both(
          with_numbers(fmt::format(
              "wmma.load.a.sync.aligned.{0}.m16n16k16.global.{2} {3}, [%out];\nwmma.load.b.sync.aligned.{1}.m16n16k16.global.{2} {4}, [%out+4096], 48;\n"
              "wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {5}, [%out+8192];\nwmma.mma.sync.aligned.{0}.{1}.m16n16k16.s32.{2}.{2}.s32.satfinite {5}, {3}, {4}, {5};\n"
              "wmma.store.d.sync.aligned.col.m16n16k16.global.s32 [%out+8192], {5}, 20;",
              a, b, type, registers("%a", 2), registers("%b", 2), registers("%x", 8))),
          {1, 1, 1}, {32, 1, 1}, 0);
    EXPECT_TRUE(planned("matrices")) << plan_;
    EXPECT_FALSE(planned("wmma")) << plan_;
    both(
        with_numbers(
            fmt::format(
                "wmma.load.a.sync.aligned.{0}.m16n16k8.global.tf32 {2}, [%out];\nwmma.load.b.sync.aligned.{1}.m16n16k8.global.tf32 {3}, [%out+4096], 24;\n"
                "wmma.load.c.sync.aligned.row.m16n16k8.global.f32 {4}, [%out+8192];\nwmma.mma.sync.aligned.{0}.{1}.m16n16k8.f32.tf32.tf32.f32 {4}, {2}, {3}, {4};\n"
                "wmma.store.d.sync.aligned.col.m16n16k8.global.f32 [%out+8192], {4}, 20;",
                a, b, registers("%a", 4), registers("%b", 4), registers("%y", 8)),
            0x83ffffff, 0x3c000000),
        {1, 1, 1}, {32, 1, 1}, 0);
    EXPECT_TRUE(planned("matrices")) << plan_;
    EXPECT_FALSE(planned("wmma")) << plan_;
    both(
        with_numbers(
            fmt::format(
                "wmma.load.a.sync.aligned.{0}.m8n8k4.global.f64 {{%za}}, [%out];\nwmma.load.b.sync.aligned.{1}.m8n8k4.global.f64 {{%zb}}, [%out+4096], 12;\n"
                "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {{%zc0, %zc1}}, [%out+8192];\nwmma.mma.sync.aligned.{0}.{1}.m8n8k4.f64.f64.f64.f64 {{%zc0, %zc1}}, {{%za}}, {{%zb}}, {{%zc0, %zc1}};\n"
                "wmma.store.d.sync.aligned.col.m8n8k4.global.f64 [%out+8192], {{%zc0, %zc1}}, 20;",
                a, b),
            0x83ffffff, 0x3c000000),
        {1, 1, 1}, {32, 1, 1}, 0);
    EXPECT_TRUE(planned("matrices")) << plan_;
    EXPECT_FALSE(planned("wmma")) << plan_;
  }
}

// Shared memory by its own addresses and by generic ones, also where the matrix ends beyond it.
TEST_F(Engines, AgreeOnFragmentsInSharedMemory) {
  for (const char* space : {".shared", ""})
    for (const char* layout : {"row", "col"}) {
      const Outcome outcome = both(
          with_numbers(fmt::format(
              "mul.wide.u32 %d1, %t, 32; add.s64 %d3, %d1, %out; mov.u64 %d4, tile; add.s64 %d4, %d4, %d1; ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%d3]; st.shared.v4.u32 [%d4], {{%a0, %a1, %a2, %a3}};\n"
              "ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%d3+16]; st.shared.v4.u32 [%d4+16], {{%a0, %a1, %a2, %a3}}; bar.sync 0;\n"
              "mov.u64 %d2, tile; {2}\n"
              "wmma.load.a.sync.aligned.{1}.m16n16k16{0}.f16 {3}, [%d2], 24;\nwmma.load.b.sync.aligned.{1}.m16n16k16{0}.f16 {4}, [%d2+64];\n"
              "wmma.load.c.sync.aligned.{1}.m16n16k16{0}.f16 {5}, [%d2+128];\nwmma.mma.sync.aligned.{1}.{1}.m16n16k16.f32.f16 {6}, {3}, {4}, {5};\n"
              "wmma.store.d.sync.aligned.{1}.m16n16k16.global.f32 [%out+8192], {6};\n"
              "wmma.store.d.sync.aligned.{1}.m16n16k16{0}.f16 [%d2], {5}; bar.sync 0; ld.shared.v4.u32 {{%a0, %a1, %a2, %a3}}, [%d4]; st.global.v4.u32 [%d3+12288], {{%a0, %a1, %a2, %a3}};",
              space, layout, *space ? "" : "cvta.shared.u64 %d2, %d2;", registers("%a", 8), registers("%b", 8), registers("%x", 4),
              registers("%y", 8))),
          {1, 1, 1}, {32, 1, 1}, 0);
      EXPECT_EQ(outcome.failure, "");
      EXPECT_TRUE(planned("matrices")) << plan_;
      EXPECT_FALSE(planned("wmma")) << plan_;
    }
}

// Infinities, NaNs and numbers of all sizes go to the handlers, as do matrices that are not all in memory.
TEST_F(Engines, AgreeOnMatricesThatAreUnusual) {
  for (const int at : {0, 16376})
    both(
        with_numbers(
            fmt::format(
                "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {0}, [%out+{3}];\nwmma.load.b.sync.aligned.col.m16n16k16.global.f16 {1}, [%out+4096];\n"
                "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {2}, [%out+8192];\nwmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {2}, {0}, {1}, {2};\n"
                "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%out+8192], {2};",
                registers("%a", 8), registers("%b", 8), registers("%y", 8), at),
            0xffffffff, 0),
        {1, 1, 1}, {32, 1, 1}, 0);
  for (const uint32_t add : {0u, 0x7ff00000u})
    both(
        with_numbers(
            "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%za}, [%out];\nwmma.load.b.sync.aligned.col.m8n8k4.global.f64 {%zb}, [%out+4096];\n"
            "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%zc0, %zc1}, [%out+8192];\nwmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%zc0, %zc1}, {%za}, {%zb}, {%zc0, %zc1};\n"
            "wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%out+8192], {%zc0, %zc1};",
            0xffffffff, add),
        {1, 1, 1}, {32, 1, 1}, 0);
}

// Rows of shared memory to registers, products of them, and back.
TEST_F(Engines, AgreeOnRowsOfMatrices) {
  for (const char* across : {"", ".trans"})
    for (const char* from : {"mul.lo.u32 %r3, %t, 16", "xor.b32 %r3, %t, 5; mul.lo.u32 %r3, %r3, 32", "mul.lo.u32 %r3, %t, 4"}) {
      both(
          with_numbers(fmt::format(
              "mov.u32 %r9, tile; mul.lo.u32 %r1, %t, 16; add.u32 %r1, %r1, %r9; mul.wide.u32 %d1, %t, 16; add.s64 %d1, %d1, %out; ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%d1]; "
              "st.shared.v4.u32 [%r1], {{%a0, %a1, %a2, %a3}}; st.shared.v4.u32 [%r1+512], {{%a3, %a0, %a2, %a1}}; bar.sync 0;\n{1}; add.u32 %r3, %r3, %r9;\n"
              "ldmatrix.sync.aligned.m8n8.x4{0}.shared.b16 {{%a0, %a1, %a2, %a3}}, [%r3];\nldmatrix.sync.aligned.m8n8.x2{0}.shared.b16 {{%b0, %b1}}, [%r3+16];\n"
              "mov.f32 %y0, 1.5; mov.f32 %y1, 0.0; mov.f32 %y2, -2.0; cvt.rn.f32.u32 %y3, %t;\n"
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%y0, %y1, %y2, %y3}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{%y0, %y1, %y2, %y3}};\n"
              "mul.wide.u32 %d1, %t, 16; add.s64 %d1, %d1, %out; st.global.v4.f32 [%d1+8192], {{%y0, %y1, %y2, %y3}};\n"
              "stmatrix.sync.aligned.m8n8.x4{0}.shared.b16 [%r1], {{%a0, %a1, %a2, %a3}}; bar.sync 0; ld.shared.v4.u32 {{%a0, %a1, %a2, %a3}}, [%r1]; st.global.v4.u32 [%d1+12288], {{%a0, %a1, %a2, %a3}};",
              across, from)),
          {1, 1, 1}, {32, 1, 1}, 0);
      EXPECT_TRUE(planned("matrices")) << plan_;
      EXPECT_FALSE(planned("handlers")) << plan_;
    }
  EXPECT_TRUE(happened("matrices"));
}

}  // namespace
}  // namespace warpbeam::vm
