#include <algorithm>

#include "machine_text.h"

namespace warpbeam::assembly {
namespace {

// A value that lanes differ in, and an address to leave results at.
const std::string kStart =
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; ld.param.u64 %d1, [a]; cvta.to.global.u64 %d2, %d1; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d2, %d3;\n";

std::string of(const std::string& body, int cc = 80) { return mnemonics(assembled(kStart + body + "\nret;", cc)); }

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Selection, multiply_and_add_is_one) {
  const std::string t = of("mul.lo.s32 %r3, %r1, %r2; add.s32 %r4, %r3, %r2; st.global.u32 [%d4], %r4;");
  EXPECT_NE(t.find("IMAD STG"), t.npos) << t;
}

TEST(Selection, wide_product_takes_the_base_of_an_address) {
  const std::string t = of("ld.global.u32 %r3, [%d4]; st.global.u32 [%d4+4], %r3;");
  EXPECT_EQ(count(t, "IMAD.WIDE"), 1u) << t;
  EXPECT_EQ(t.find("IADD3"), t.npos) << t;
}

TEST(Selection, shift_and_add_is_one) {
  const std::string t = of("shl.b32 %r3, %r1, 3; add.s32 %r4, %r3, %r2; st.global.u32 [%d4], %r4;");
  EXPECT_NE(t.find("LEA STG"), t.npos) << t;
}

TEST(Selection, two_additions_are_one) {
  const std::string t = of("add.s32 %r3, %r1, %r2; add.s32 %r4, %r3, %r2; st.global.u32 [%d4], %r4;");
  EXPECT_EQ(count(t, "IADD3"), 1u) << t;
}

TEST(Selection, long_addition_is_two) {
  const std::string t = of("mov.u64 %d5, %clock64; mov.u64 %d6, %clock64; add.s64 %d7, %d5, %d6; st.global.u64 [%d4], %d7;");
  EXPECT_NE(t.find("IADD3 IADD3.X"), t.npos) << t;
}

TEST(Selection, what_a_long_division_by_a_number_leaves_takes_three) {
  const std::string t =
      of("mov.u64 %d5, %clock64; mov.u64 %d6, %clock64; mul.lo.s64 %d7, %d6, 1000000007; sub.s64 %d8, %d5, %d7; st.global.u64 [%d4], %d8;");
  EXPECT_NE(t.find("IMAD.WIDE.U32"), t.npos) << t;
  EXPECT_EQ(count(t, "IADD3"), 1u) << t;  // none that carries
}

TEST(Selection, three_logic_instructions_are_one) {
  const std::string t = of("and.b32 %r3, %r1, %r2; xor.b32 %r4, %r3, 7; st.global.u32 [%d4], %r4;");
  EXPECT_EQ(count(t, "LOP3"), 1u) << t;
}

TEST(Selection, logic_compared_with_zero_is_one) {
  const std::string t = of("and.b32 %r3, %r1, 1; setp.eq.s32 %p1, %r3, 0; @%p1 st.global.u32 [%d4], %r1;");
  EXPECT_NE(t.find("LOP3"), t.npos) << t;
  EXPECT_EQ(t.find("ISETP"), t.npos) << t;
}

TEST(Selection, zero_extension_takes_nothing) {
  const std::string t = of("cvt.u64.u32 %d5, %r1; st.global.u64 [%d4], %d5;");
  EXPECT_EQ(count(t, "SHF"), 0u) << t;
}

TEST(Selection, zero_extension_of_a_loop_variable_takes_nothing) {
  const std::string t =
      of("mov.u32 %r3, 0; L: cvt.u64.u32 %d5, %r3; add.s64 %d6, %d4, %d5; add.s32 %r3, %r3, %r2; st.global.u8 [%d6], %r1;"
         "setp.lt.u32 %p1, %r3, 99; @%p1 bra L;");
  EXPECT_EQ(count(t.substr(t.find('|')), "MOV"), 0u) << t;
}

TEST(Selection, upper_bits_that_are_zero_are_not_cut_off) {
  const std::string t =
      of("ld.global.u8 %h1, [%d4]; ld.global.u8 %h2, [%d4+1]; xor.b16 %h3, %h1, %h2; cvt.u32.u16 %r3, %h3; st.global.u32 [%d4], %r3;");
  EXPECT_NE(t.find("LOP3 STG"), t.npos) << t;
  EXPECT_EQ(count(of("cvt.u64.u32 %d5, %r1; and.b64 %d6, %d5, 255; st.global.u64 [%d4], %d6;"), "LOP3"), 1u);
}

TEST(Selection, bytes_are_put_in_by_a_permutation) {
  const std::string t = of("bfi.b32 %r3, %r1, %r2, 8, 8; st.global.u32 [%d4], %r3;");
  EXPECT_NE(t.find("PRMT STG"), t.npos) << t;
}

TEST(Selection, textures_write_what_is_read) {
  const MachineCode code =
      assembled(kStart + "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %r2}]; st.global.f32 [%d4], %f1; ret;", 90);
  size_t textures = 0;
  for (const MachineBlock& b : code.blocks)
    for (const MachineInstruction& i : b.text)
      if (i.operation == Operation::Texture) {
        ++textures;
        EXPECT_EQ(i.writes[0].count, 1);
      }
  EXPECT_EQ(textures, 1u);
}

TEST(Selection, a_variable_in_shared_memory_stays_uniform) {
  const std::string t = mnemonics(assembled(kStart + "mov.u64 %d5, s; add.s64 %d6, %d5, %d3; st.shared.u32 [%d6], %r1; ret;", 90));
  EXPECT_NE(t.find("ULEA"), t.npos) << t;
  EXPECT_NE(t.find("LEA STS"), t.npos) << t;
}

TEST(Selection, an_address_that_is_a_row_further_is_one_step_from_the_last) {
  const std::string t = of(
      "ld.param.u32 %r5, [n]; mul.wide.s32 %d5, %r1, 4; add.s64 %d6, %d2, %d5; add.s32 %r3, %r1, %r2; mul.wide.s32 %d7, %r3, 4; add.s64 %d8, %d2, %d7;"
      "ld.global.f32 %f1, [%d6]; ld.global.f32 %f2, [%d8]; add.f32 %f3, %f1, %f2; st.global.f32 [%d6], %f3;");
  EXPECT_EQ(count(t, "IMAD.WIDE"), 2u) << t;
  EXPECT_EQ(count(t, "IADD3"), 0u) << t;
}

TEST(Selection, functions_of_double_precision_take_moves_for_their_numbers) {
  const std::string module =
      ".version 8.3\n.target sm_90\n.address_size 64\n.extern .func (.param .b64 r) __nv_exp (.param .b64 x);\n.visible .entry k(.param .u64 a) { .reg .b64 %d<9>; .reg .f64 %g<4>;"
      "ld.param.u64 %d1, [a]; ld.global.f64 %g1, [%d1]; { .param .b64 p; .param .b64 q; st.param.f64 [p], %g1; call.uni (q), __nv_exp, (p); ld.param.f64 %g2, [q]; }"
      "st.global.f64 [%d1], %g2; ret; }";
  const ptx::ParseResult parsed = ptx::parse(module);
  ASSERT_TRUE(parsed.diagnostics.empty()) << ptx::describe(parsed.diagnostics[0]);
  const ptx::Function& k = parsed.module->functions.back();
  const std::string t = mnemonics(assemble(*parsed.module, k, {90, 255}));
  EXPECT_GE(count(t, "UMOV") + count(t, " MOV"), count(t, "DFMA")) << t;
}

TEST(Selection, both_halves_of_a_product_are_one) {
  const std::string t = of("mul.lo.s32 %r3, %r1, %r2; mul.hi.u32 %r4, %r1, %r2; xor.b32 %r5, %r3, %r4; st.global.u32 [%d4], %r5;");
  EXPECT_NE(t.find("IMAD.WIDE.U32 LOP3 STG"), t.npos) << t;
}

TEST(Selection, a_majority_is_one_logic_instruction) {
  const std::string t = of(
      "mov.u32 %r3, %lanemask_lt; or.b32 %r4, %r1, %r2; and.b32 %r5, %r4, %r3; and.b32 %r6, %r1, %r2; or.b32 %r7, %r5, %r6; st.global.u32 [%d4], %r7;");
  EXPECT_EQ(count(t, "LOP3"), 1u) << t;
}

TEST(Selection, what_logic_alone_reads_is_part_of_each) {
  const std::string t = of(
      "ld.global.u32 %r5, [%d4+8]; xor.b32 %r3, %r1, %r2; and.b32 %r4, %r3, %r5; and.b32 %r6, %r1, %r2; or.b32 %r7, %r4, %r6; xor.b32 %r8, %r3, %r5; st.global.v2.u32 [%d4], {%r7, %r8};");
  EXPECT_EQ(count(t, "LOP3"), 2u) << t;
}

TEST(Selection, bits_of_two_registers_side_by_side_are_one_shift) {
  const std::string t = of("shl.b32 %r3, %r1, 5; shr.u32 %r4, %r2, 27; or.b32 %r5, %r3, %r4; st.global.u32 [%d4], %r5;");
  EXPECT_EQ(count(t, "SHF"), 1u) << t;
  EXPECT_EQ(count(t, "LOP3"), 0u) << t;
}

TEST(Selection, logic_in_a_circle_comes_to_an_end) {
  const std::string t = of("L: and.b32 %r3, %r4, %r1; or.b32 %r4, %r3, %r2; setp.ne.s32 %p1, %r1, 0; @%p1 bra L;");
  EXPECT_NE(t.find("BRA"), t.npos) << t;
}

TEST(Selection, two_floats_become_a_pair_of_halves_at_once) {
  const std::string t = of(
      "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2; cvt.rn.f16.f32 %h1, %f1; cvt.rn.f16.f32 %h2, %f2; cvt.u32.u16 %r3, %h1; cvt.u32.u16 %r4, %h2;"
      "shl.b32 %r5, %r4, 16; or.b32 %r6, %r5, %r3; st.global.u32 [%d4], %r6;");
  EXPECT_EQ(count(t, "F2FP"), 1u) << t;
  EXPECT_EQ(count(t, "PRMT"), 0u) << t;
}

TEST(Selection, exact_numbers_of_double_precision_are_made_in_uniform_registers) {
  const std::string t = mnemonics(
      assembled(kStart + "ld.global.f64 %g1, [%d4]; fma.rn.f64 %g2, %g1, 0d3FD5555555555555, %g1; st.global.f64 [%d4], %g2; ret;", 90));
  EXPECT_EQ(count(t, "UMOV"), 2u) << t;
}

TEST(Selection, a_vector_of_numbers_is_made_before_the_loop) {
  const std::string t = of(
      "mov.u32 %r3, 0; L: st.global.v4.u32 [%d4], {1, 2, 3, 4}; add.s32 %r3, %r3, %r2; bar.sync 0; setp.lt.u32 %p1, %r3, 99; @%p1 bra L;");
  EXPECT_EQ(count(t.substr(t.find('|')), "MOV"), 0u) << t;
}

TEST(Selection, halves_of_a_double_from_a_shuffle_take_nothing) {
  const std::string t =
      of("ld.global.f64 %g1, [%d4]; mov.b64 %d5, %g1; cvt.u32.u64 %r3, %d5; shr.u64 %d6, %d5, 32; cvt.u32.u64 %r4, %d6;"
         "shfl.sync.down.b32 %r5, %r3, 1, 31, -1; shfl.sync.down.b32 %r6, %r4, 1, 31, -1; cvt.u64.u32 %d7, %r6; shl.b64 %d8, %d7, 32;"
         "cvt.u64.u32 %d9, %r5; or.b64 %d10, %d8, %d9; mov.b64 %g2, %d10; add.f64 %g3, %g1, %g2; st.global.f64 [%d4], %g3;");
  EXPECT_NE(t.find("SHFL SHFL DADD"), t.npos) << t;
}

TEST(Selection, products_without_rounding_are_contracted) {
  EXPECT_NE(of("ld.global.f32 %f1, [%d4]; mul.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %f1; st.global.f32 [%d4], %f3;").find("LDG FFMA STG"),
            std::string::npos);
  EXPECT_NE(of("ld.global.f32 %f1, [%d4]; mul.rn.f32 %f2, %f1, %f1; add.rn.f32 %f3, %f2, %f1; st.global.f32 [%d4], %f3;")
                .find("LDG FMUL FADD STG"),
            std::string::npos);
}

TEST(Selection, signs_take_nothing) {
  const std::string t = of("ld.global.f32 %f1, [%d4]; neg.f32 %f2, %f1; fma.rn.f32 %f3, %f1, %f2, %f1; st.global.f32 [%d4], %f3;");
  EXPECT_NE(t.find("LDG FFMA STG"), t.npos) << t;
}

TEST(Selection, exact_division_has_a_quick_way) {
  const std::string t = of("ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4]; div.rn.f32 %f3, %f1, %f2; st.global.f32 [%d4], %f3;");
  EXPECT_EQ(count(t, "FFMA"), 5u) << t;
  EXPECT_NE(t.find("FCHK"), t.npos) << t;
}

TEST(Selection, divisions_by_the_same_share_its_reciprocal) {
  const std::string t =
      of("rem.u32 %r3, %r1, %r2; add.s32 %r5, %r1, 7; rem.u32 %r4, %r5, %r2; add.s32 %r6, %r3, %r4; st.global.u32 [%d4], %r6;");
  EXPECT_EQ(count(t, "MUFU.RCP"), 1u) << t;
}

TEST(Selection, functions_scale_subnormals_unless_told_to_flush) {
  EXPECT_EQ(count(of("ld.global.f32 %f1, [%d4]; ex2.approx.f32 %f2, %f1; st.global.f32 [%d4], %f2;"), "FMUL"), 1u + 1u);
  EXPECT_EQ(count(of("ld.global.f32 %f1, [%d4]; ex2.approx.ftz.f32 %f2, %f1; st.global.f32 [%d4], %f2;"), "FMUL"), 0u);
}

TEST(Selection, approximate_divisions_have_no_slow_way) {
  for (const char* op :
       {"div.approx.f32 %f3, %f1, %f2", "div.full.f32 %f3, %f1, %f2", "rcp.approx.ftz.f32 %f3, %f1", "sqrt.approx.f32 %f3, %f1"}) {
    const std::string t = of("ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4];" + std::string(op) + "; st.global.f32 [%d4], %f3;");
    EXPECT_EQ(count(t, "BRA") + count(t, "FCHK"), 0u) << op << ": " << t;
  }
}

TEST(Selection, values_all_threads_share_go_to_the_uniform_datapath) {
  const std::string twice =
      "mov.u32 %r3, %ctaid.x; and.b32 %r4, %r3, 5; xor.b32 %r5, %r4, %r3; add.s32 %r6, %r5, %r1; st.global.u32 [%d4], %r6;";
  EXPECT_NE(of(twice).find("ULOP3"), std::string::npos) << of(twice);
  EXPECT_EQ(of(twice, 70).find("ULOP3"), std::string::npos) << of(twice, 70);
}

TEST(Selection, pointers_that_several_accesses_go_by_move_later) {
  const auto loop = [](const std::string& accesses) {
    return "mov.u32 %r3, 0; mov.f32 %f2, 0f00000000; L: .pragma \"nounroll\"; " + accesses +
           " add.s64 %d4, %d4, 4; add.s32 %r3, %r3, 1; setp.ne.s32 %p1, %r3, 64; @%p1 bra L; st.global.f32 [%d2], %f2;";
  };
  const auto copies = [&](const std::string& accesses) {
    const std::string t = of(loop(accesses));
    const size_t begin = t.find('|') + 1;
    return count(t.substr(begin, t.find('|', begin) - begin), " MOV");
  };
  EXPECT_EQ(copies("ld.global.f32 %f1, [%d4]; add.f32 %f2, %f2, %f1;"), 0u);
  EXPECT_EQ(copies("ld.global.f32 %f1, [%d4]; add.f32 %f2, %f2, %f1; ld.global.f32 %f3, [%d4+128]; add.f32 %f2, %f2, %f3;"), 2u);
  EXPECT_EQ(copies("st.global.f32 [%d4], %f2;"), 2u);
}

TEST(Selection, products_that_all_threads_share_are_uniform_too) {
  const std::string product =
      "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mul.lo.s32 %r5, %r3, %r4; xor.b32 %r6, %r5, %r1; st.global.u32 [%d4], %r6;";
  EXPECT_EQ(count(of(product), "UIMAD"), 1u) << of(product);
  EXPECT_EQ(count(of(product, 70), "UIMAD"), 0u) << of(product, 70);
}

TEST(Selection, long_sums_that_all_threads_share_are_uniform_too) {
  const std::string t = mnemonics(assembled(
      kStart +
          "ld.param.u64 %d5, [b]; ld.param.u32 %r3, [n]; cvt.s64.s32 %d6, %r3; add.s64 %d7, %d5, %d6; add.s64 %d8, %d7, %d3; st.global.u32 [%d8], %r1; ret;",
      90));
  EXPECT_NE(t.find("UIADD3 UIADD3.X"), t.npos) << t;
  EXPECT_EQ(count(t, " SHF"), 0u) << t;
}

TEST(Selection, parameters_are_operands_or_loaded) {
  const std::string body = "ld.param.f32 %f1, [x]; ld.global.f32 %f2, [%d4]; add.f32 %f3, %f1, %f2; st.global.f32 [%d4], %f3;";
  EXPECT_EQ(count(of(body, 80), "ULDC "), 0u) << of(body, 80);
  EXPECT_GE(count(of(body, 90), "ULDC"), 2u) << of(body, 90);
}

TEST(Selection, words_side_by_side_in_shared_memory_are_loaded_together) {
  const std::string t = of(
      "mov.u64 %d5, s; mul.wide.u32 %d6, %r1, 16; add.s64 %d7, %d5, %d6; ld.shared.f32 %f1, [%d7]; ld.shared.f32 %f2, [%d7+4]; ld.shared.f32 %f3, [%d7+8];"
      "ld.shared.f32 %f4, [%d7+12]; add.f32 %f5, %f1, %f2; add.f32 %f6, %f3, %f4; add.f32 %f7, %f5, %f6; st.global.f32 [%d4], %f7;");
  EXPECT_EQ(count(t, "LDS"), 1u) << t;
  const std::string apart = of(
      "mov.u64 %d5, s; mul.wide.u32 %d6, %r1, 4; add.s64 %d7, %d5, %d6; ld.shared.f32 %f1, [%d7]; ld.shared.f32 %f2, [%d7+4]; add.f32 %f5, %f1, %f2; st.global.f32 [%d4], %f5;");
  EXPECT_EQ(count(apart, "LDS"), 2u) << apart;
}

// A pointer of a loop that stands 12 bytes behind a multiple of 16.
TEST(Selection, words_of_a_walking_pointer_are_loaded_together) {
  const std::string t = of(
      "mov.u32 %r3, s; shl.b32 %r4, %r1, 6; add.s32 %r4, %r3, %r4; add.s32 %r5, %r4, 12; mov.u32 %r6, 0; L: ld.shared.f32 %f1, [%r5+-12]; ld.shared.f32 %f2, [%r5+-8];"
      "ld.shared.f32 %f3, [%r5+-4]; ld.shared.f32 %f4, [%r5]; add.f32 %f5, %f5, %f1; add.f32 %f5, %f5, %f2; add.f32 %f5, %f5, %f3; add.f32 %f5, %f5, %f4;"
      "add.s32 %r5, %r5, 16; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r2; @%p1 bra L; st.global.f32 [%d4], %f5;");
  EXPECT_GE(count(t, "LDS"), 1u) << t;
  EXPECT_LE(count(t, "LDS"), 4u) << t;  // several turns at once have one each
  const std::string apart = of(
      "mov.u32 %r3, s; shl.b32 %r4, %r1, 6; add.s32 %r4, %r3, %r4; add.s32 %r5, %r4, 12; mov.u32 %r6, 0; L: ld.shared.f32 %f1, [%r5+-12]; ld.shared.f32 %f2, [%r5+-8];"
      "ld.shared.f32 %f3, [%r5+-4]; ld.shared.f32 %f4, [%r5]; add.f32 %f5, %f5, %f1; add.f32 %f5, %f5, %f2; add.f32 %f5, %f5, %f3; add.f32 %f5, %f5, %f4;"
      "add.s32 %r5, %r5, 4; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r2; @%p1 bra L; st.global.f32 [%d4], %f5;");
  EXPECT_GE(count(apart, "LDS"), 4 * count(t, "LDS")) << apart;
}

TEST(Selection, sums_of_floats_in_shared_memory_are_loops) {
  const std::string t = of("mov.u32 %r3, s; ld.global.f32 %f1, [%d4]; atom.shared.add.f32 %f2, [%r3], %f1;");
  EXPECT_NE(t.find("ATOMS.CAS"), t.npos) << t;
}

TEST(Selection, matrix_products_by_generation) {
  const std::string body =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r1,%r2}, {%r1,%r2}, {%f5,%f6,%f7,%f8}; st.global.f32 [%d4], %f1; st.global.f32 [%d4+4], %f4;";
  EXPECT_EQ(count(of(body, 80), "HMMA"), 1u) << of(body, 80);
  EXPECT_EQ(count(of(body, 75), "HMMA"), 2u) << of(body, 75);
}

TEST(Selection, functions_of_the_library_are_inlined) {
  const std::string t = of(
      "ld.global.f32 %f1, [%d4]; { .param .b32 q; st.param.f32 [q], %f1; .param .b32 w; call.uni (w), __nv_expf, (q); ld.param.f32 %f2, [w]; } st.global.f32 [%d4], %f2;");
  EXPECT_EQ(t.find("CALL"), t.npos) << t;
  EXPECT_EQ(count(t, "MUFU"), 1u) << t;
}

TEST(Shape, an_early_return_is_a_predicate) {
  const std::string t = of("setp.gt.s32 %p1, %r1, 3; @%p1 bra E; st.global.u32 [%d4], %r1; E:");
  EXPECT_NE(t.find("@EXIT"), std::string::npos) << t;
  EXPECT_EQ(t.find("BSSY"), std::string::npos) << t;
}

TEST(Shape, a_short_branch_is_a_predicate) {
  const std::string t = of(
      "mov.u32 %r5, 1; setp.gt.s32 %p1, %r1, 3; @%p1 bra E; add.s32 %r5, %r1, %r2; E: st.global.u32 [%d4], %r5; bar.sync 0; st.global.u32 [%d4+4], %r5;");
  EXPECT_EQ(t.find("BRA"), std::string::npos) << t;
  EXPECT_NE(t.find("@IADD3"), std::string::npos) << t;
}

TEST(Shape, lanes_that_part_meet_again) {
  std::string middle;
  for (int k = 0; k < 20; ++k) middle += "st.global.u32 [%d4+" + std::to_string(4 * k) + "], %r2;";
  const std::string t = of("setp.gt.s32 %p1, %r1, 3; @%p1 bra E;" + middle + "E: bar.sync 0; st.global.u32 [%d4+4], %r1;");
  EXPECT_EQ(count(t, "BSSY"), 1u) << t;
  EXPECT_EQ(count(t, "BSYNC"), 1u) << t;
}

TEST(Shape, lanes_that_go_the_same_way_need_not_meet) {
  std::string middle;
  for (int k = 0; k < 20; ++k) middle += "st.global.u32 [%d4+" + std::to_string(4 * k) + "], %r2;";
  const std::string t =
      of("ld.param.u32 %r3, [n]; setp.gt.s32 %p1, %r3, 3; @%p1 bra E;" + middle + "E: bar.sync 0; st.global.u32 [%d4+4], %r1;");
  EXPECT_EQ(count(t, "BSSY"), 0u) << t;
}

TEST(Shape, a_branch_over_a_jump_is_the_opposite_branch) {
  const std::string t = of(
      "mov.u32 %r3, 0; L: add.s32 %r3, %r3, 1; st.global.u32 [%d4], %r3; setp.eq.s32 %p1, %r3, %r1; @%p1 bra E; bra.uni L; E: st.global.u32 [%d4+4], %r3;");
  EXPECT_EQ(count(t, "BRA"), 1u) << t;
}

// As LLVM lays loops out: one side stands before the test of the loop, the other behind it.
TEST(Shape, sides_that_stand_apart_are_predicates) {
  const std::string t = of(
      "bra.uni H; T: add.s32 %r5, %r5, %r2; L: add.s32 %r3, %r3, 1; setp.eq.s32 %p1, %r3, %r1; @%p1 bra E; H: setp.lt.s32 %p2, %r5, %r2; @%p2 bra S; bra.uni T; "
      "S: xor.b32 %r5, %r5, %r1; bra.uni L; E: st.global.u32 [%d4], %r5;");
  EXPECT_EQ(count(t, "@BRA"), 1u) << t;
  EXPECT_NE(t.find("@LOP3"), std::string::npos) << t;
  EXPECT_NE(t.find("@IADD3"), std::string::npos) << t;
}

TEST(Shape, what_a_division_makes_of_an_unchanging_divisor_stands_before_the_loop) {
  const std::string t = of(
      "mov.u32 %r3, 0; L: .pragma \"nounroll\"; rem.u32 %r3, %r3, %r2; add.s32 %r3, %r3, %r1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra L; st.global.u32 [%d4], %r3;");
  EXPECT_EQ(count(t, "MUFU.RCP"), 1u) << t;
  EXPECT_LT(t.find("MUFU.RCP"), t.find('|')) << t;
}

TEST(Shape, divisions_by_one_unchanging_divisor_share_what_stands_before_the_loop) {
  const std::string t = of(
      "mov.u32 %r3, 0; L: .pragma \"nounroll\"; add.s32 %r3, %r3, %r1; cvt.rn.f32.u32 %f1, %r3; div.rn.f32 %f2, %f1, %f9; add.f32 %f3, %f1, %f2; "
      "div.rn.f32 %f4, %f3, %f9; st.global.f32 [%d4], %f4; setp.lt.s32 %p1, %r3, %r2; @%p1 bra L;");
  EXPECT_EQ(count(t, "MUFU.RCP"), 1u) << t;
}

TEST(Shape, a_branch_s_predicate_is_made_long_before_it) {
  std::string sums, stores;
  for (int k = 1; k < 9; ++k) {
    const std::string f = "%f" + std::to_string(k);
    sums += "fma.rn.f32 " + f + ", " + f + ", " + f + ", %f9;";
    stores += "st.global.f32 [%d4+" + std::to_string(4 * k) + "], " + f + ";";
  }
  const std::string t =
      of("mov.u32 %r3, 0; L: .pragma \"nounroll\";" + sums + "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra L;" + stores);
  EXPECT_NE(t.find("ISETP FFMA"), std::string::npos) << t;
}

TEST(Selection, signed_bytes_and_halves_of_words_are_converted_as_they_are) {
  const std::string bytes =
      of("ld.global.u32 %r3, [%d4]; bfe.s32 %r4, %r3, 8, 8; cvt.s8.s32 %h1, %r4; cvt.rn.f32.s16 %f1, %h1; st.global.f32 [%d4], %f1;", 90);
  EXPECT_NE(bytes.find("LDG I2F.S16 STG"), bytes.npos) << bytes;
  const std::string halves =
      of("ld.global.u32 %r3, [%d4]; mov.b32 {%h1, %h2}, %r3; cvt.rn.f32.u16 %f1, %h2; st.global.f32 [%d4], %f1;", 90);
  EXPECT_NE(halves.find("LDG I2F.U16 STG"), halves.npos) << halves;
  const std::string loaded = of("ld.global.u8 %h1, [%d4]; cvt.rn.f32.u16 %f1, %h1; st.global.f32 [%d4], %f1;", 90);
  EXPECT_NE(loaded.find("I2FP"), loaded.npos) << loaded;
}

TEST(Selection, one_more_or_not_is_a_sum_and_a_guarded_move) {
  const std::string t =
      of("ld.global.u32 %r3, [%d4]; setp.lt.s32 %p1, %r1, %r2; selp.u32 %r4, 1, 0, %p1; add.s32 %r5, %r3, %r4; st.global.u32 [%d4], %r5;");
  EXPECT_EQ(count(t, "SEL"), 0u) << t;
  EXPECT_NE(t.find("IADD3 @MOV STG"), t.npos) << t;
}

TEST(Selection, the_upper_word_of_a_product_is_added_to_by_itself) {
  const std::string t = of("mad.hi.u32 %r3, %r1, %r2, %r1; st.global.u32 [%d4], %r3;");
  EXPECT_NE(t.find("IMAD.HI IADD3 STG"), t.npos) << t;
}

TEST(Selection, functions_of_the_library_have_their_branches_only) {
  const auto call = [](const std::string& name) {
    return of("ld.global.f32 %f1, [%d4]; { .param .b32 x; .param .b32 y; st.param.f32 [x], %f1; call.uni (y), __nv_" + name +
                  ", (x); ld.param.f32 %f2, [y]; } st.global.f32 [%d4], %f2;",
              90);
  };
  EXPECT_EQ(count(call("tanhf"), "BRA"), 0u);
  EXPECT_EQ(count(call("tanhf"), "MUFU"), 2u);
  EXPECT_EQ(count(call("sinf"), "BRA"), 1u);
}

TEST(Shape, a_sum_that_is_chosen_or_not_is_a_predicated_sum) {
  const std::string chosen = of(
      "setp.lt.s32 %p1, %r1, %r2; ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4]; add.f32 %f3, %f1, %f2; selp.f32 %f4, %f3, %f1, %p1; st.global.f32 [%d4], %f4;");
  EXPECT_NE(chosen.find("@FADD"), std::string::npos) << chosen;
  EXPECT_NE(chosen.find("LDG LDG ISETP @FADD STG"), std::string::npos) << chosen;
  // Two conditions are one.
  const std::string both =
      of("setp.lt.s32 %p1, %r1, %r2; setp.gt.s32 %p2, %r1, 7; ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4]; add.f32 %f3, %f1, %f2; "
         "selp.f32 %f4, %f3, %f1, %p1; selp.f32 %f5, %f4, %f1, %p2; st.global.f32 [%d4], %f5;");
  EXPECT_EQ(count(both, "FADD"), 1u) << both;
  EXPECT_EQ(count(both, "FSEL") + count(both, "PLOP3"), 0u) << both;
  // What was before, or what was computed, is needed itself.
  const std::string needed = of(
      "setp.lt.s32 %p1, %r1, %r2; ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4]; add.f32 %f3, %f1, %f2; selp.f32 %f4, %f3, %f1, %p1; st.global.f32 [%d4], %f4; st.global.f32 [%d4+8], %f1;");
  EXPECT_EQ(count(needed, "FSEL"), 1u) << needed;
}

TEST(Shape, only_memory_has_accesses) {
  const MachineCode code = assembled(kStart + "shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; bar.sync 0; st.global.u32 [%d4], %r3; ret;");
  for (const MachineBlock& b : code.blocks)
    for (const MachineInstruction& i : b.text) EXPECT_EQ(i.access, i.mnemonic == "STG" || i.mnemonic.starts_with("LDG")) << i.mnemonic;
}

TEST(Shape, loads_come_before_what_uses_the_first_of_them) {
  const std::string t = of(
      "ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, 0f3F800000; ld.global.f32 %f3, [%d4+4]; add.f32 %f4, %f3, %f2; st.global.f32 [%d4+8], %f4;");
  EXPECT_NE(t.find("LDG LDG FADD FADD STG"), std::string::npos) << t;
}

TEST(Shape, a_load_stays_behind_a_store_that_may_meet_it) {
  const std::string t = of(
      "mul.wide.u32 %d5, %r2, 4; add.s64 %d6, %d2, %d5; st.global.u32 [%d4], %r1; ld.global.u32 %r3, [%d6]; st.global.u32 [%d4+4], %r3;");
  EXPECT_NE(t.find("STG IMAD.WIDE LDG STG"), std::string::npos) << t;
  const std::string apart = of("st.global.u32 [%d4], %r1; ld.global.u32 %r3, [%d4+8]; st.global.u32 [%d4+4], %r3;");
  EXPECT_NE(apart.find("LDG STG STG"), std::string::npos) << apart;
}

TEST(Shape, a_loop_variable_takes_no_moves) {
  const std::string t =
      of("mov.u32 %r3, 0; L: add.s32 %r4, %r3, 1; setp.lt.s32 %p1, %r4, %r1; mov.u32 %r3, %r4; @%p1 bra L; st.global.u32 [%d4], %r3;");
  EXPECT_EQ(t.find("MOV @BRA"), std::string::npos) << t;
}

const std::string kLoop =
    "ld.global.f32 %f1, [%d4]; add.f32 %f2, %f2, %f1; add.s64 %d4, %d4, 512; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra L; st.global.f32 [%d2], %f2;";

TEST(Shape, short_loops_are_made_four_at_a_time) {
  const MachineCode code = assembled(kStart + "mov.u32 %r3, 0; mov.f32 %f2, 0f00000000; L: " + kLoop + "ret;");
  const MachineBlock* loop = nullptr;
  for (const MachineBlock& b : code.blocks)
    if (b.turns > 1) loop = &b;
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->turns, 4u);
  size_t loads = 0, branches = 0;
  for (const MachineInstruction& i : loop->unrolled)
    loads += i.operation == Operation::LoadGlobal, branches += i.operation == Operation::Branch;
  EXPECT_EQ(loads, 4u);
  EXPECT_EQ(branches, 1u);
  for (size_t k = 0, found = 0; found < 4; ++k) {
    EXPECT_NE(loop->unrolled[k].operation, Operation::FloatAdd) << "loads of all turns come first";
    found += loop->unrolled[k].operation == Operation::LoadGlobal;
  }
}

TEST(Shape, addresses_that_are_sums_are_made_once_for_all_turns) {
  const MachineCode code = assembled(
      kStart +
      "mov.u64 %d5, 0; mov.f32 %f2, 0f00000000; ld.param.u64 %d7, [b]; L: add.s64 %d6, %d4, %d5; ld.global.f32 %f1, [%d6]; add.f32 %f2, %f2, %f1;"
      "add.s64 %d5, %d5, 4; setp.lt.u64 %p1, %d5, %d7; @%p1 bra L; st.global.f32 [%d4], %f2; ret;");
  const MachineBlock* loop = nullptr;
  for (const MachineBlock& b : code.blocks)
    if (b.turns > 1) loop = &b;
  ASSERT_TRUE(loop);
  size_t additions = 0;
  for (const MachineInstruction& i : loop->unrolled) additions += i.operation == Operation::IntAdd;
  EXPECT_EQ(additions, 4u) << "the sum and the step, both of two words";
}

// A loop that a counter of 32 bits leads through memory; what comes before its first turn.
MachineCode counted_loop(const std::string& before, const std::string& step, const std::string& type) {
  return assembled(kStart + "mov.u32 %r3, %r1; mov.f32 %f2, 0f00000000; ld.param.u32 %r5, [n]; " + before + "setp.ge." + type +
                   " %p2, %r3, %r5; @%p2 bra M; mov.u64 %d8, %d4; L: mul.wide." + type +
                   " %d5, %r3, 4; add.s64 %d6, %d4, %d5; ld.global.f32 %f1, [%d6]; add.f32 %f2, %f2, %f1; add.s32 %r3, %r3, " + step +
                   "; setp.lt." + type + " %p1, %r3, %r5; @%p1 bra L; M: st.global.f32 [%d4], %f2; ret;");
}

TEST(Shape, places_by_a_counter_of_32_bits_are_made_in_each_turn) {
  for (const std::string type : {"u32", "s32"}) {
    const MachineCode code = counted_loop("", "32", type);
    const auto loop = std::ranges::find_if(code.blocks, [](const MachineBlock& b) { return b.turns > 1; });
    ASSERT_NE(loop, code.blocks.end());
    EXPECT_EQ(loop->turns, 4u);
    EXPECT_EQ(std::ranges::count_if(loop->unrolled, [](const MachineInstruction& i) { return i.operation == Operation::IntMulWide; }), 4);
  }
  EXPECT_GT(counted_loop("", "32", "u32").instructions(), counted_loop("", "32", "s32").instructions() + 10)
      << "how many turns there are takes longer to find where the counter may wrap";
}

TEST(Shape, loops_that_count_by_warpSize_are_repeated) {
  const auto turns = [](const std::string& before, const std::string& step) {
    uint32_t most = 1;
    for (const MachineBlock& b : counted_loop(before, step, "s32").blocks) most = std::max(most, b.turns);
    return most;
  };
  EXPECT_EQ(turns("mov.u32 %r6, WARP_SZ; ", "%r6"), 4u);
  EXPECT_EQ(turns("mov.u32 %r6, WARP_SZ; max.s32 %r7, %r6, 1; ", "%r7"), 4u);
  EXPECT_EQ(turns("mov.u32 %r6, WARP_SZ; setp.eq.s32 %p3, %r5, 7; @%p3 mov.u32 %r6, %r2; ", "%r6"), 1u) << "on one way it is another";
  EXPECT_EQ(turns("ld.param.u32 %r6, [n]; ", "%r6"), 1u);
  EXPECT_EQ(turns("max.s32 %r6, %r6, 1; max.s32 %r7, %r6, 1; max.s32 %r6, %r7, 1; ", "%r6"), 1u)
      << "nobody knows, and nobody asks for ever";
}

TEST(Shape, loops_of_two_bodies_become_what_nvcc_makes_of_one) {
  const auto turns = [](int products) {
    std::string body =
        "mov.u64 %d5, 0; mov.f32 %f2, 0f00000000; ld.param.u32 %r5, [n]; mov.u64 %d6, %d4; L: ld.global.f32 %f1, [%d6]; ld.global.f32 %f3, [%d6+4];";
    for (int k = 0; k < products; ++k) body += "fma.rn.f32 %f2, %f2, %f1, %f3;";
    body +=
        "add.s64 %d5, %d5, 2; add.s64 %d6, %d6, 8; cvt.u32.u64 %r4, %d5; setp.ne.s32 %p1, %r4, %r5; @%p1 bra L; st.global.f32 [%d4], %f2; ret;";
    uint32_t most = 1;
    for (const MachineBlock& b : assembled(kStart + body).blocks) most = std::max(most, b.turns);
    return most;
  };
  EXPECT_EQ(turns(2), 8u);
  EXPECT_EQ(turns(30), 2u);
}

// Four turns by the front end, and what is left over of them.
std::string four_turns(int products) {
  std::string body = "mov.u32 %r3, 0; mov.f32 %f2, 0f00000000; ld.param.u32 %r5, [n]; mov.u64 %d6, %d4; L: ";
  for (int turn = 0; turn < 4; ++turn) {
    body += "ld.global.f32 %f1" + std::to_string(turn) + ", [%d6+" + std::to_string(4 * turn) + "];";
    for (int k = 0; k < products; ++k) body += "fma.rn.f32 %f2, %f2, %f1" + std::to_string(turn) + ", %f2;";
  }
  return body +
         "add.s32 %r3, %r3, 4; add.s64 %d6, %d6, 16; setp.ne.s32 %p1, %r3, %r5; @%p1 bra L; M: .pragma \"nounroll\"; ld.global.f32 %f3, [%d6];"
         "add.f32 %f2, %f2, %f3; add.s64 %d6, %d6, 4; add.s32 %r3, %r3, 1; setp.ne.s32 %p2, %r3, %r1; @%p2 bra M; st.global.f32 [%d4], %f2; ret;";
}

TEST(Shape, four_turns_become_sixteen_if_they_are_short) {
  const auto unrolled = [](int products) {
    for (const MachineBlock& b : assembled(kStart + four_turns(products)).blocks)
      if (b.turns > 1) return b.unrolled;
    return std::vector<MachineInstruction>{};
  };
  const auto count_of = [](const std::vector<MachineInstruction>& text, Operation o) {
    return std::ranges::count_if(text, [&](const MachineInstruction& i) { return i.operation == o; });
  };
  const auto short_one = unrolled(1);
  EXPECT_EQ(count_of(short_one, Operation::LoadGlobal), 16);
  EXPECT_EQ(count_of(short_one, Operation::IntAdd), 4 * 2 + 1) << "each four move the address on; turns are counted once";
  EXPECT_TRUE(unrolled(10).empty());
}

TEST(Shape, lanes_exchange_values_in_any_order) {
  const std::string t = of(
      "ld.global.b32 %r3, [%d4]; ld.global.b32 %r4, [%d4+4]; shfl.sync.bfly.b32 %r5, %r3, 16, 31, -1; add.s32 %r6, %r3, %r5; shfl.sync.bfly.b32 %r7, %r6, 8, 31, -1;"
      "shfl.sync.bfly.b32 %r8, %r4, 16, 31, -1; add.s32 %r9, %r4, %r8; add.s32 %r10, %r7, %r9; st.global.b32 [%d4], %r10;");
  EXPECT_NE(t.find("SHFL SHFL"), t.npos) << "the second exchange of one does not keep the other's first: " << t;
}

TEST(Shape, loops_that_say_so_are_left_alone) {
  const MachineCode code = assembled(kStart + "mov.u32 %r3, 0; mov.f32 %f2, 0f00000000; L: .pragma \"nounroll\"; " + kLoop + "ret;");
  for (const MachineBlock& b : code.blocks) EXPECT_EQ(b.turns, 1u);
}

TEST(Registers, numbers_are_made_again_where_registers_are_short) {
  // Forty numbers that are needed on both sides of a barrier of loads.
  std::string body;
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < 36; ++k) body += "st.global.u32 [%d4+" + std::to_string(4 * k) + "], " + std::to_string(1000 + k) + ";";
    body += "setp.eq.s32 %p1, %r1, " + std::to_string(side) + "; @%p1 bra L" + std::to_string(side) + "; bar.sync 0; L" +
            std::to_string(side) + ": bar.sync 0;";
  }
  EXPECT_LE(assembled(kStart + body + "ret;").registers, 32);
}

TEST(Registers, loads_wait_for_their_turn_where_registers_are_short) {
  // All are loaded first; each is needed alone.
  std::string body;
  for (int k = 1; k < 39; ++k) body += "ld.global.f32 %f" + std::to_string(k) + ", [%d4+" + std::to_string(4 * k) + "];";
  for (int k = 1; k < 39; ++k) body += "mul.f32 %f" + std::to_string(k) + ", %f" + std::to_string(k) + ", %f" + std::to_string(k) + ";";
  for (int k = 2; k < 39; ++k) body += "add.f32 %f1, %f1, %f" + std::to_string(k) + ";";
  EXPECT_LE(assembled(kStart + body + "st.global.f32 [%d4], %f1; ret;").registers, 32);
}

TEST(Registers, chains_side_by_side_stay_so_where_registers_are_short) {
  // Eight sums that go through a loop, four turns of which are there: nothing waits for what came just before, with 24 registers that the loop holds.
  std::string body = "mov.u32 %r3, 0;", end;
  const auto f = [](int k) { return "%f" + std::to_string(k); };
  for (int k = 0; k < 24; ++k) body += "ld.global.f32 " + f(k) + ", [%d4+" + std::to_string(4 * k) + "];";
  body += "L: .pragma \"nounroll\";";
  for (int k = 0; k < 8; ++k) {  // as compilers write it, through a register of each turn's own
    body += "fma.rn.f32 " + f(24 + k) + ", " + f(8 + k) + ", " + f(16 + k) + ", " + f(k) + ";";
    body += "fma.rn.f32 " + f(32 + k % 7) + ", " + f(8 + k) + ", " + f(16 + k) + ", " + f(24 + k) + ";";
    body += "fma.rn.f32 " + f(k) + ", " + f(8 + k) + ", " + f(16 + k) + ", " + f(32 + k % 7) + ";";
  }
  body += "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra L;";
  for (int k = 0; k < 24; ++k) body += "st.global.f32 [%d4+" + std::to_string(4 * k) + "], " + f(k) + ";";
  const MachineCode code = assembled(kStart + body + "ret;");
  size_t at_once = 0, products = 0;
  for (const MachineBlock& b : code.blocks)
    for (size_t k = 1; k < b.text.size(); ++k) {
      if (b.text[k].operation != Operation::FloatFma) continue;
      ++products;
      at_once += std::ranges::any_of(b.text[k].reads,
                                     [&](const RegisterRange& r) { return r.first >= 0 && r.first == b.text[k - 1].writes[0].first; });
    }
  EXPECT_GE(products, 24u);
  EXPECT_LE(at_once, 2u);
}

TEST(Registers, a_kernel_has_those_of_what_it_calls) {
  std::string function = ".func f(.param .b64 a) { .reg .f32 %f<60>; .reg .b64 %d<4>; ld.param.u64 %d1, [a];", sum;
  for (int k = 0; k < 50; ++k) function += "ld.global.f32 %f" + std::to_string(k) + ", [%d1+" + std::to_string(4 * k) + "];";
  for (int k = 0; k < 50; ++k) sum += "st.global.f32 [%d1+" + std::to_string(4 * k) + "], %f" + std::to_string(k) + ";";
  const std::string text =
      ".version 8.3\n.target sm_90\n.address_size 64\n" + function + "bar.sync 0;" + sum +
      "ret; }\n.visible .entry k(.param .u64 a) { .reg .b64 %d<4>; .param .b64 x; ld.param.u64 %d1, [a]; st.param.b64 [x], %d1; call.uni f, (x); ret; }";
  const ptx::ParseResult parsed = ptx::parse(text);
  ASSERT_TRUE(parsed.diagnostics.empty()) << ptx::describe(parsed.diagnostics[0]);
  EXPECT_GT(assemble(*parsed.module, parsed.module->functions[1], {90, 255}).registers, 50);
}

TEST(Registers, addresses_in_shared_memory_are_made_again) {
  // Places in two variables that are needed twice, far apart.
  std::string body = "mov.u64 %d5, s;";
  for (int round = 0; round < 2; ++round)
    for (int k = 0; k < 38; ++k) {
      const std::string r = std::to_string(k);
      if (!round)
        body += "add.s32 %q" + r + ", %r1, " + std::to_string(3 * k + 1) + "; mul.wide.u32 %e" + r + ", %q" + r + ", 4; add.s64 %e" + r +
                "x, %d5, %e" + r + ";";
      body += "st.shared.u32 [%e" + r + "x], %r2;";
      if (k == 37) body += "bar.sync 0;";
    }
  std::string registers;
  for (int k = 0; k < 38; ++k)
    registers += ".reg .b32 %q" + std::to_string(k) + "; .reg .b64 %e" + std::to_string(k) + "; .reg .b64 %e" + std::to_string(k) + "x;";
  EXPECT_LE(assembled(registers + kStart + body + "ret;", 90).registers, 48);
}

TEST(Registers, bounds_of_a_launch_are_kept) {
  std::string body, sum;
  for (int k = 1; k < 39; ++k) body += "ld.global.f32 %f" + std::to_string(k) + ", [%d4+" + std::to_string(4 * k) + "];";
  body += "bar.sync 0;";
  for (int k = 1; k < 39; ++k) sum += "st.global.f32 [%d4+" + std::to_string(4 * k) + "], %f" + std::to_string(k) + ";";
  EXPECT_GT(assembled(kStart + body + sum + "ret;").registers, 38);
  const MachineCode tight = assembled(kStart + body + sum + "ret;", 80, 24);
  EXPECT_LE(tight.registers, 24);
  EXPECT_GT(tight.spill_bytes, 0u);
  // What has no register is stored once, and loaded where it is read.
  int loads = 0, stores = 0;
  for (const MachineBlock& b : tight.blocks)
    for (const MachineInstruction& i : b.text) {
      if (i.spilled < 0) continue;
      EXPECT_LT(4u * static_cast<uint32_t>(i.spilled), tight.spill_bytes);
      ++(i.operation == Operation::StoreLocal ? stores : loads);
    }
  EXPECT_EQ(4u * static_cast<uint32_t>(stores), tight.spill_bytes);
  EXPECT_EQ(loads, stores);
}

// --- compute capability 1.x

TEST(FirstGeneration, addresses_have_32_bits) {
  EXPECT_EQ(of("ld.global.u32 %r3, [%d4+4]; st.global.u32 [%d4], %r3;", 10), "S2R SHL IADD LDG STG EXIT");
}

TEST(FirstGeneration, products_of_whole_words_are_products_of_halves) {
  const std::string words = "ld.global.u32 %r3, [%d4]; ld.global.u32 %r4, [%d4+4]; ";
  const std::string t = of(words + "mul.lo.s32 %r5, %r3, %r4; st.global.u32 [%d4], %r5;", 10);
  EXPECT_NE(t.find("IMUL.U16 IMAD.U16 SHL IMAD.U16 STG"), t.npos) << t;
  const std::string small = of("mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r5, %r3, %r4, %r1; st.global.u32 [%d4], %r5;", 10);
  EXPECT_EQ(count(small, "U16"), 1u) << small;
  EXPECT_EQ(of(words + "mul.lo.s32 %r5, %r3, 8; st.global.u32 [%d4], %r5;", 10).find("IMUL"), std::string::npos);
}

TEST(FirstGeneration, remainder_is_two_quotients_of_floats) {
  const std::string t = of("ld.global.u32 %r3, [%d4]; rem.u32 %r5, %r1, %r3; st.global.u32 [%d4], %r5;", 10);
  EXPECT_EQ(count(t, "RCP"), 1u) << t;
  EXPECT_EQ(count(t, "F2I"), 2u) << t;
  EXPECT_EQ(count(t, "U16"), 9u) << t;  // three products
}

TEST(FirstGeneration, reads_one_operand_out_of_shared_memory) {
  const std::string t = of(
      "shl.b32 %r3, %r1, 2; ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r3+64]; add.s32 %r6, %r4, %r5; st.shared.u32 [%r3], %r6;", 10);
  EXPECT_NE(t.find("LDS IADD STS"), t.npos) << t;
  // Not past a store.
  const std::string u =
      of("shl.b32 %r3, %r1, 2; ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r3], %r1; add.s32 %r6, %r4, %r1; st.shared.u32 [%r3+4], %r6;", 10);
  EXPECT_NE(u.find("LDS STS IADD STS"), u.npos) << u;
}

TEST(FirstGeneration, sum_beside_a_known_address_is_one_addition) {
  const std::string t =
      of("ld.global.u32 %r3, [%d4]; add.s32 %r4, %r1, 128; mul.wide.u32 %d5, %r4, 4; add.s64 %d6, %d2, %d5; ld.global.u32 %r5, [%d6];"
         "st.global.u32 [%d4], %r3; st.global.u32 [%d4+4], %r5;",
         10);
  EXPECT_EQ(count(t, "SHL"), 1u) << t;
  EXPECT_EQ(count(t, "IADD"), 2u) << t;
}

TEST(FirstGeneration, loop_variable_is_compared_before_it_changes) {
  const std::string t =
      of("ld.global.u32 %r3, [%d4]; L: shr.u32 %r4, %r3, 1; st.shared.u32 [s], %r4; setp.gt.u32 %p1, %r3, 3; mov.u32 %r3, %r4; @%p1 bra L;",
         10);
  EXPECT_NE(t.find("ISETP SHR STS @BRA"), t.npos) << t;
}

TEST(FirstGeneration, jumps_over_more_than_four_instructions) {
  const auto under_condition = [](int instructions) {
    std::string body = "ld.global.u32 %r3, [%d4]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L; ";
    for (int k = 0; k < instructions; ++k) body += "st.shared.u32 [s+" + std::to_string(4 * k) + "], %r3; ";
    return of(body + "L: st.global.u32 [%d4], %r1;", 10);
  };
  EXPECT_EQ(under_condition(4).find("BRA"), std::string::npos) << under_condition(4);
  EXPECT_NE(under_condition(5).find("BRA"), std::string::npos) << under_condition(5);
}

}  // namespace
}  // namespace warpbeam::assembly
