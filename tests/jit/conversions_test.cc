// cvt over all exponents, at the borders of what the results can hold, and on NaN and infinity.
#include <vector>

#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Fractions: none, all bits, and any.
constexpr const char* kFractions[] = {"mov.u32 %r1, 0;", "mov.u32 %r1, 0xffffffff;", "mul.lo.u32 %r1, %i, 2654435761;"};

// In %f1 a number with the exponent %t, negative from thread 256 on; in %g1 one around the same powers of two; in %d1 whole
// numbers of every size.
constexpr const char* kOperands =
    "and.b32 %r2, %t, 255; shl.b32 %r2, %r2, 23; shr.u32 %r3, %t, 8; shl.b32 %r3, %r3, 31; and.b32 %r4, %r1, 0x7fffff; or.b32 %r2, %r2, %r4; or.b32 %r2, %r2, %r3; mov.b32 %f1, %r2;\n"
    "and.b32 %r4, %t, 127; add.u32 %r5, %r4, 983; setp.eq.u32 %p1, %r4, 127; selp.b32 %r5, 2047, %r5, %p1; setp.eq.u32 %p1, %r4, 1; selp.b32 %r5, 880, %r5, %p1;\n"
    "shl.b32 %r5, %r5, 20; shr.u32 %r6, %r1, 12; or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r3; mov.b64 %g1, {%r1, %r5};\n"
    "and.b32 %r4, %t, 63; mov.b64 %d1, {%r1, %r1}; add.s64 %d1, %d1, %t64; shr.s64 %d1, %d1, %r4; cvt.u32.u64 %r7, %d1; cvt.u16.u64 %h1, %d1;\n";

class Conversions : public Engines {
 protected:
  void agree(const std::string& conversion) {
    for (std::string fraction : kFractions) {
      std::string operands = kOperands;
      operands.replace(operands.find("%t64"), 4, "%d7");
      const auto outcome = both(
          "cvt.u64.u32 %d7, %t; mov.u64 %d9, 0; mov.u32 %r9, 0; mov.u16 %h2, 0; mov.f32 %f2, 0f00000000; mov.f64 %g2, 0d0000000000000000;\n" +
              fraction + operands + conversion +
              " cvt.u64.u32 %d8, %r9; xor.b64 %d9, %d9, %d8; cvt.u64.u16 %d8, %h2; xor.b64 %d9, %d9, %d8; mov.b32 %r9, %f2; cvt.u64.u32 %d8, %r9; xor.b64 %d9, %d9, %d8;\n"
              "mov.b64 %d8, %g2; xor.b64 %d9, %d9, %d8; mul.wide.u32 %d8, %i, 8; add.s64 %d8, %out, %d8; st.global.u64 [%d8], %d9; ret;",
          {1, 1, 1}, {512, 1, 1}, 0);
      EXPECT_FALSE(outcome.words.empty()) << conversion;
    }
  }
};

struct Result {
  const char *type, *name;
};
constexpr Result kWhole[] = {{"u8", "%r9"},  {"s8", "%r9"},  {"u16", "%h2"}, {"s16", "%h2"}, {"u32", "%r9"},
                             {"s32", "%r9"}, {"u64", "%d9"}, {"s64", "%d9"}, {"s16", "%r9"}};

TEST_F(Conversions, AgreeOnConversionsToWholeNumbers) {
  for (const Result& r : kWhole)
    for (const char* rounding : {"rzi", "rni", "rmi", "rpi", "rmi.ftz", "rpi.ftz.sat"}) {
      if (std::string(r.type).ends_with("16") && std::string(r.name) == "%r9" && std::string(rounding) != "rzi") continue;
      agree(fmt::format("cvt.{}.{}.f32 {}, %f1;", rounding, r.type, r.name));
      if (std::string(rounding).size() == 3) agree(fmt::format("cvt.{}.{}.f64 {}, %g1;", rounding, r.type, r.name));
    }
}

TEST_F(Conversions, AgreeOnSaturatedWholeNumbers) {
  for (const Result& r : kWhole)
    for (const char* from : {"u8 %r7", "s8 %r7", "u16 %h1", "s16 %h1", "u32 %r7", "s32 %r7", "u64 %d1", "s64 %d1"}) {
      const std::string text = from, type = text.substr(0, text.find(' ')), name = text.substr(text.find(' ') + 1);
      const int bits = std::stoi(type.substr(1)), room = std::stoi(std::string(r.type).substr(1));
      const bool may_overflow = room - (r.type[0] == 's') < bits - (type[0] == 's') || (type[0] == 's' && r.type[0] == 'u');
      agree(fmt::format("cvt{}.{}.{} {}, {};", may_overflow ? ".sat" : "", r.type, type, r.name, name));
    }
}

TEST_F(Conversions, AgreeOnConversionsToFloats) {
  for (const char* conversion : {"cvt.sat.f32.f32 %f2, %f1;",     "cvt.ftz.f32.f32 %f2, %f1;",        "cvt.ftz.sat.f32.f32 %f2, %f1;",
                                 "cvt.rzi.ftz.f32.f32 %f2, %f1;", "cvt.rpi.sat.f32.f32 %f2, %f1;",    "cvt.rni.ftz.sat.f32.f32 %f2, %f1;",
                                 "cvt.rmi.f32.f32 %f2, %f1;",     "cvt.rzi.f64.f64 %g2, %g1;",        "cvt.rmi.f64.f64 %g2, %g1;",
                                 "cvt.rpi.f64.f64 %g2, %g1;",     "cvt.rni.f64.f64 %g2, %g1;",        "cvt.rn.ftz.f32.f64 %f2, %g1;",
                                 "cvt.rn.sat.f32.f64 %f2, %g1;",  "cvt.rn.f32.f64 %f2, %g1;",         "cvt.ftz.f64.f32 %g2, %f1;",
                                 "cvt.sat.f64.f32 %g2, %f1;",     "cvt.ftz.sat.f64.f32 %g2, %f1;",    "cvt.rn.ftz.f32.s32 %f2, %r7;",
                                 "cvt.rn.sat.f32.s32 %f2, %r7;",  "cvt.rn.ftz.sat.f32.u64 %f2, %d1;", "cvt.rn.sat.f64.s16 %g2, %h1;",
                                 "cvt.rn.f32.u8 %f2, %r7;",       "cvt.rn.f16.s32 %h2, %r7;",         "cvt.rn.f16.u32 %h2, %r7;",
                                 "cvt.rn.f16.s16 %h2, %h1;",      "cvt.rn.f16.u8 %h2, %r7;",          "cvt.rn.f16.f32 %h2, %f1;",
                                 "cvt.f32.f16 %f2, %h1;",         "cvt.rn.bf16.f32 %h2, %f1;",        "cvt.f32.bf16 %f2, %h1;"})
    agree(conversion);
}

// Halves come from and go to every other type, rounded each way that their rows allow.
TEST_F(Conversions, AgreeOnConversionsOfHalves) {
  for (const char* conversion : {"cvt.rzi.s32.f16 %r9, %h1;",
                                 "cvt.rni.u64.f16 %d9, %h1;",
                                 "cvt.rmi.s16.f16 %h2, %h1;",
                                 "cvt.rpi.s32.bf16 %r9, %h1;",
                                 "cvt.rzi.s64.bf16 %d9, %h1;",
                                 "cvt.f64.f16 %g2, %h1;",
                                 "cvt.sat.f64.f16 %g2, %h1;",
                                 "cvt.f64.bf16 %g2, %h1;",
                                 "cvt.sat.f32.f16 %f2, %h1;",
                                 "cvt.ftz.f32.bf16 %f2, %h1;",
                                 "cvt.rn.f16.f64 %h2, %g1;",
                                 "cvt.rn.sat.f16.f64 %h2, %g1;",
                                 "cvt.rn.bf16.f64 %h2, %g1;",
                                 "cvt.rp.bf16.f64 %h2, %g1;",
                                 "cvt.rz.bf16.f32 %h2, %f1;",
                                 "cvt.rm.bf16.f32 %h2, %f1;",
                                 "cvt.rp.ftz.bf16.f32 %h2, %f1;",
                                 "cvt.rn.ftz.f16.f32 %h2, %f1;",
                                 "cvt.rn.sat.f16.f32 %h2, %f1;",
                                 "cvt.rn.relu.f16.f32 %h2, %f1;",
                                 "cvt.rn.satfinite.f16.f32 %h2, %f1;",
                                 "cvt.rn.relu.satfinite.bf16.f32 %h2, %f1;",
                                 "cvt.rn.bf16.s32 %h2, %r7;",
                                 "cvt.rz.bf16.u32 %h2, %r7;",
                                 "cvt.f16.f16 %h2, %h1;",
                                 "cvt.sat.f16.f16 %h2, %h1;",
                                 "cvt.rni.f16.f16 %h2, %h1;",
                                 "cvt.rmi.bf16.bf16 %h2, %h1;",
                                 "cvt.rn.f16.bf16 %h2, %h1;",
                                 "cvt.rn.bf16.f16 %h2, %h1;"}) {
    agree(conversion);
    EXPECT_EQ(plan_.find("handlers: cvt"), std::string::npos) << conversion << plan_;
  }
}

TEST_F(Conversions, AgreeOnRoundingThatIsDirected) {
  for (const char* to : {"f32.f64 %f2, %g1;", "f32.s32 %f2, %r7;", "f32.u32 %f2, %r7;", "f64.s32 %g2, %r7;", "sat.f32.f64 %f2, %g1;"})
    for (const char* rounding : {"rz", "rm", "rp"}) {
      agree(fmt::format("cvt.{}.{}", rounding, to));
      EXPECT_EQ(plan_.find("handlers: cvt"), std::string::npos) << rounding << to << plan_;
    }
}

TEST_F(Conversions, AgreeOnPairsAndShortFloats) {
  for (const char* conversion :
       {"cvt.rn.f16x2.f32 %r9, %f1, %f3;", "cvt.rn.bf16x2.f32 %r9, %f1, %f3;", "cvt.rz.bf16x2.f32 %r9, %f3, %f1;",
        "cvt.rn.relu.f16x2.f32 %r9, %f1, %f3;", "cvt.rn.satfinite.bf16x2.f32 %r9, %f1, %f3;", "cvt.rna.tf32.f32 %r9, %f1;",
        "cvt.rna.satfinite.tf32.f32 %r9, %f1;", "cvt.rn.tf32.f32 %r9, %f1;", "cvt.rz.relu.tf32.f32 %r9, %f1;"}) {
    agree(std::string("mul.f32 %f3, %f1, 0fC0000000; ") + conversion);
    EXPECT_EQ(plan_.find("handlers: cvt"), std::string::npos) << conversion << plan_;
  }
}

TEST_F(Conversions, AgreeOnComparisonsOfHalves) {
  for (const char* type : {"f16", "bf16"})
    for (const char* comparison : {"lt", "geu", "ne", "nan"}) {
      agree(fmt::format("cvt.u16.u32 %h3, %i; setp.{}.{} %p1, %h1, %h3; selp.u32 %r9, 7, 9, %p1;", comparison, type));
      EXPECT_EQ(plan_.find("handlers: set"), std::string::npos) << comparison << type << plan_;
    }
}

// Pairs of any bits, of numbers near one, of numbers next to nothing, and of infinities and NaNs.
TEST_F(Conversions, AgreeOnHalves) {
  for (const char* near :
       {"and.b32 %r1, %r1, 0xffffffff;", "and.b32 %r1, %r1, 0x83ff83ff; or.b32 %r1, %r1, 0x3c003c00;", "and.b32 %r1, %r1, 0x81ff81ff;",
        "or.b32 %r1, %r1, 0x78007800;", "and.b32 %r1, %r1, 0xff80fc00; or.b32 %r1, %r1, 0x7f807c00;"})
    for (const char* type : {"f16", "bf16", "f16x2", "bf16x2"})
      for (std::string operation : {"add", "sub", "mul", "fma.rn", "min", "max", "min.NaN", "max.NaN", "neg", "abs"}) {
        const bool pair = std::string(type).ends_with("2"), one = operation == "neg" || operation == "abs";
        const char file = pair ? 'r' : 'h';
        std::string text = "mul.lo.u32 %r1, %i, 2654435761;" + std::string(near) +
                           "mov.u32 %r5, %r1; mul.lo.u32 %r1, %i, 2246822519; shr.u32 %r2, %r1, 7; xor.b32 %r1, %r1, %r2;" + near +
                           "mov.u32 %r6, %r1; mul.lo.u32 %r1, %i, 3266489917; shr.u32 %r2, %r1, 9; xor.b32 %r1, %r1, %r2;" + near +
                           "mov.u32 %r7, %r1;\n";
        if (!pair) text += "cvt.u16.u32 %h5, %r5; cvt.u16.u32 %h6, %r6; cvt.u16.u32 %h7, %r7;";
        text += fmt::format("{}.{} %{}8, %{}5", operation, type, file, file);
        if (!one) text += fmt::format(", %{}6", file);
        if (operation == "fma.rn") text += fmt::format(", %{}7", file);
        text += pair ? ";" : "; cvt.u32.u16 %r8, %h8;";
        both(text + "mul.wide.u32 %d2, %i, 4; add.s64 %d2, %out, %d2; st.global.u32 [%d2], %r8; ret;", {8, 1, 1}, {512, 1, 1}, 0);
      }
}

// A clamp bends what is a straight line before it.
TEST_F(Conversions, AgreeOnSaturatedThreadNumbers) {
  for (const char* clamp : {"cvt.sat.u8.s32 %r2, %r1;", "cvt.sat.s8.s32 %r2, %r1;", "cvt.sat.u16.s32 %r2, %r1;",
                            "cvt.sat.u32.s32 %r2, %r1;", "cvt.sat.s32.u32 %r2, %r1;", "cvt.sat.u64.s32 %d1, %r1; cvt.u32.u64 %r2, %d1;"})
    for (const char* line : {"sub.s32 %r1, %t, 100;", "mad.lo.s32 %r1, %t, 5, -300;", "mad.lo.s32 %r1, %c, -8, 4;", "sub.s32 %r1, %n, 70;"})
      both(
          std::string(line) + clamp +
              "mul.wide.u32 %d2, %r2, 4; and.b64 %d2, %d2, 4095; add.s64 %d2, %out, %d2; ld.global.u32 %r3, [%d2]; xor.b32 %r3, %r3, %r2; st.global.u32 [%at+8192], %r3; ret;",
          {2, 1, 1}, {256, 1, 1}, 40);
}

// Two values in one register are more than a conversion.
TEST_F(Conversions, AgreeOnPackedNumbers) {
  for (const char* pack : {"cvt.pack.sat.u16.s32 %r3, %r1, %r2;", "cvt.pack.sat.s8.s32.b32 %r3, %r1, %r2, %t;",
                           "setp.lt.u32 %p1, %t, 10; mov.u32 %r3, %c; @%p1 cvt.pack.sat.u8.s32.b32 %r3, %r1, %r2, %t;"})
    both(std::string("ld.global.u32 %r1, [%at]; mad.lo.u32 %r2, %t, 7, %n; ") + pack + " st.global.u32 [%at], %r3; ret;", {2, 1, 1},
         {64, 1, 1}, 5);
}

}  // namespace
}  // namespace warpbeam::vm
