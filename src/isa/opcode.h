// The instructions of the table by name. A row's syntax begins with one of these words; who asks what an instruction is asks for
// the enumerator.
#pragma once
#include <cstdint>
#include <string_view>

namespace warpbeam::isa {

#define WB_OPCODES(X) \
  X(Abs, "abs") X(Activemask, "activemask") X(Add, "add") X(Addc, "addc") X(Alloca, "alloca") X(And, "and")                              \
  X(Applypriority, "applypriority") X(Atom, "atom") X(Bar, "bar") X(Barrier, "barrier") X(Bfe, "bfe") X(Bfi, "bfi") X(Bfind, "bfind")    \
  X(Bmsk, "bmsk") X(Bra, "bra") X(Brev, "brev") X(Brkpt, "brkpt") X(Brx, "brx") X(Call, "call") X(Clz, "clz") X(Cnot, "cnot")            \
  X(Copysign, "copysign") X(Cos, "cos") X(Cp, "cp") X(Createpolicy, "createpolicy") X(Cvt, "cvt") X(Cvta, "cvta") X(Discard, "discard")  \
  X(Div, "div") X(Dp2a, "dp2a") X(Dp4a, "dp4a") X(Elect, "elect") X(Ex2, "ex2") X(Exit, "exit") X(Fence, "fence") X(Fma, "fma")          \
  X(Fns, "fns") X(Getctarank, "getctarank") X(Griddepcontrol, "griddepcontrol") X(Isspacep, "isspacep") X(Istypep, "istypep")            \
  X(Ld, "ld") X(Ldmatrix, "ldmatrix") X(Ldu, "ldu") X(Lg2, "lg2") X(Lop3, "lop3") X(Mad, "mad") X(Mad24, "mad24") X(Madc, "madc")        \
  X(Mapa, "mapa") X(Match, "match") X(Max, "max") X(Mbarrier, "mbarrier") X(Membar, "membar") X(Min, "min") X(Mma, "mma") X(Mov, "mov")  \
  X(Movmatrix, "movmatrix") X(Mul, "mul") X(Mul24, "mul24") X(Nanosleep, "nanosleep") X(Neg, "neg") X(Not, "not") X(Or, "or")            \
  X(Pmevent, "pmevent") X(Popc, "popc") X(Prefetch, "prefetch") X(Prefetchu, "prefetchu") X(Prmt, "prmt") X(Rcp, "rcp") X(Red, "red")    \
  X(Redux, "redux") X(Rem, "rem") X(Ret, "ret") X(Rsqrt, "rsqrt") X(Sad, "sad") X(Selp, "selp") X(Set, "set")                            \
  X(Setmaxnreg, "setmaxnreg") X(Setp, "setp") X(Shf, "shf") X(Shfl, "shfl") X(Shl, "shl") X(Shr, "shr") X(Sin, "sin") X(Slct, "slct")    \
  X(Sqrt, "sqrt") X(St, "st") X(Stackrestore, "stackrestore") X(Stacksave, "stacksave") X(Stmatrix, "stmatrix") X(Sub, "sub")            \
  X(Subc, "subc") X(Suld, "suld") X(Suq, "suq") X(Sured, "sured") X(Sust, "sust") X(Szext, "szext") X(Tanh, "tanh")                      \
  X(Tensormap, "tensormap") X(Testp, "testp") X(Tex, "tex") X(Tld4, "tld4") X(Trap, "trap") X(Txq, "txq") X(Vabsdiff, "vabsdiff")        \
  X(Vabsdiff2, "vabsdiff2") X(Vabsdiff4, "vabsdiff4") X(Vadd, "vadd") X(Vadd2, "vadd2") X(Vadd4, "vadd4") X(Vavrg2, "vavrg2")            \
  X(Vavrg4, "vavrg4") X(Vmad, "vmad") X(Vmax, "vmax") X(Vmax2, "vmax2") X(Vmax4, "vmax4") X(Vmin, "vmin") X(Vmin2, "vmin2")              \
  X(Vmin4, "vmin4") X(Vote, "vote") X(Vset, "vset") X(Vset2, "vset2") X(Vset4, "vset4") X(Vshl, "vshl") X(Vshr, "vshr") X(Vsub, "vsub")  \
  X(Vsub2, "vsub2") X(Vsub4, "vsub4") X(Wgmma, "wgmma") X(Wmma, "wmma") X(Xor, "xor")

enum class Opcode : uint8_t {
  None,  // no row has it: that a row's opcode is missing above does not compile
#define X(name, word) name,
  WB_OPCODES(X)
#undef X
};

constexpr Opcode opcode_named(std::string_view word) {
#define X(name, text) \
  if (word == text) return Opcode::name;
  WB_OPCODES(X)
#undef X
  return Opcode::None;
}

}  // namespace warpbeam::isa
