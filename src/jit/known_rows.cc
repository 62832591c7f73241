#include "jit/known_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace warpbeam::jit {
namespace {

using isa::Kind;
using isa::Opcode;

constexpr Opcode kOpcodes[] = {
    Opcode::Abs,     Opcode::Activemask, Opcode::Add,   Opcode::Addc,      Opcode::And,       Opcode::Atom,  Opcode::Bar,
    Opcode::Barrier, Opcode::Bfe,        Opcode::Bfi,   Opcode::Bfind,     Opcode::Brev,      Opcode::Brkpt, Opcode::Clz,
    Opcode::Cnot,    Opcode::Copysign,   Opcode::Cos,   Opcode::Cp,        Opcode::Cvt,       Opcode::Cvta,  Opcode::Div,
    Opcode::Dp4a,    Opcode::Elect,      Opcode::Ex2,   Opcode::Fence,     Opcode::Fma,       Opcode::Ld,    Opcode::Ldmatrix,
    Opcode::Ldu,     Opcode::Lg2,        Opcode::Lop3,  Opcode::Mad,       Opcode::Mad24,     Opcode::Madc,  Opcode::Match,
    Opcode::Max,     Opcode::Mbarrier,   Opcode::Min,   Opcode::Membar,    Opcode::Mma,       Opcode::Mov,   Opcode::Movmatrix,
    Opcode::Mul,     Opcode::Mul24,      Opcode::Neg,   Opcode::Nanosleep, Opcode::Not,       Opcode::Or,    Opcode::Popc,
    Opcode::Prmt,    Opcode::Rcp,        Opcode::Red,   Opcode::Redux,     Opcode::Rem,       Opcode::Rsqrt, Opcode::Sad,
    Opcode::Selp,    Opcode::Set,        Opcode::Setp,  Opcode::Shf,       Opcode::Shfl,      Opcode::Shl,   Opcode::Shr,
    Opcode::Sin,     Opcode::Sqrt,       Opcode::St,    Opcode::Stmatrix,  Opcode::Sub,       Opcode::Subc,  Opcode::Suld,
    Opcode::Sust,    Opcode::Tex,        Opcode::Trap,  Opcode::Vabsdiff2, Opcode::Vabsdiff4, Opcode::Vadd2, Opcode::Vadd4,
    Opcode::Vavrg2,  Opcode::Vavrg4,     Opcode::Vmax2, Opcode::Vmax4,     Opcode::Vmin2,     Opcode::Vmin4, Opcode::Vote,
    Opcode::Vset2,   Opcode::Vset4,      Opcode::Vsub2, Opcode::Vsub4,     Opcode::Wgmma,     Opcode::Wmma,  Opcode::Xor,
};

// Of syntax lines, groups of words by their names; what stands for types is known by its types.
constexpr std::string_view kWords =
    " .L2 .L2::cache_hint .NaN .abs .acq_rel .acquire .add .alias .aligned .all .and .any .approx .arith_op .arrive .arrive_drop .asem "
    ".async .atype .b32 .b64 .ballot .bf16 .bf16x2 .bool .btype .bulk .bulk_group .ca .cas .cc .cg .cluster .cmp .commit_group "
    ".complete_tx .const .cop .cs .cta .dec .dim .edge .eq .evict .exch .expect_tx .f16 .f16x2 .f32 .f64 .fcmp .fence_level .ftz "
    ".full .global .gpu .hi .hint .im2col .inc .init .inval .irnd .l .lo .local .logic_op .max .mbarrier "
    ".mbarrier::complete_tx::bytes .mbarrier_init .min .mmio .multicast::cluster .nc .ne .noComplete .noftz .noinc .oob .or .pack "
    ".param .param::entry .param::func .parity .pending_count .permute .popc .pred .prefetch .prefetch_size .proxy .r .read .red "
    ".reduce .relaxed .release .relu .rn .rna .rnd .rsem .rz .s16x2 .s32 .sat .satfinite .sc .scope .shared .shared::cluster "
    ".shared::cta .shiftamt .shuffle .space .subbyte .sync .sys .tensor .tensormap::generic .test_wait .tf32 .tile .to .try_wait "
    ".type .u16x2 .u32 .u64 .ucmp .uni .v2 .v4 .vec .volatile .wait .wait_all .wait_group .warp .wcop .weak .wide .xorsign ";

bool understands(std::string_view syntax) {
  constexpr std::string_view kBetween = "{}()|.";
  for (size_t at = syntax.find('.'); at < syntax.size();) {
    const size_t end = std::min(syntax.find_first_of(kBetween, at + 1), syntax.size());
    if (kWords.find(fmt::format(" {} ", syntax.substr(at, end - at))) == std::string_view::npos) return false;
    at = syntax.find('.', end);
  }
  return true;
}

}  // namespace

bool is_written_for(const isa::Row& row) {
  if (std::ranges::find(kOpcodes, row.op) == std::end(kOpcodes)) return false;
  switch (row.kind) {
    case Kind::Control:
    case Kind::Tensor:  // what is asked of these is not in their words
    case Kind::Image:
    case Kind::Video:
    case Kind::Misc: return true;
    default: return understands(row.syntax.substr(0, row.syntax.find(' ')));
  }
}

bool left_out(std::string_view what) {
  static const std::string without = [] {
    const char* text = std::getenv("WARPBEAM_JIT_WITHOUT");
    return text ? "," + std::string(text) + "," : std::string();
  }();
  return !without.empty() && without.find("," + std::string(what) + ",") != std::string::npos;
}

namespace {

// Sixteen bytes that other blocks see whole: CUB's tiles tell their state and their sum so. Compiled code would move them word by word.
bool moves_whole(const isa::Row& row, const isa::Mods& m) {
  const bool orders = m.sem != isa::Sem::None && m.sem != isa::Sem::Weak;
  return orders && m.vec && (row.cls == isa::Class::Load || row.cls == isa::Class::Store);
}

}  // namespace

const isa::Row* known_row(const vm::Insn& insn) {
  enum class Known : uint8_t { Unasked, No, Yes };
  static thread_local std::vector<Known> known;  // by row
  static const bool none = left_out("rows");
  const isa::Row* row = insn.row();
  if (!row || none) return nullptr;
  // The handler completes the lower half of a parameter's address.
  const isa::Mods& m = insn.mods();
  if (row->op == Opcode::Cvta && !m.to && (m.space == isa::Space::Param || m.space == isa::Space::ParamEntry)) return nullptr;
  if (moves_whole(*row, m)) return nullptr;
  const auto id = static_cast<size_t>(row->id);
  if (id >= known.size()) known.resize(id + 1);
  if (known[id] == Known::Unasked) known[id] = is_written_for(*row) && !left_out(row->opcode) ? Known::Yes : Known::No;
  return known[id] == Known::Yes ? row : nullptr;
}

}  // namespace warpbeam::jit
