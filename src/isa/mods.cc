#include "isa/mods.h"

namespace warpbeam::isa {
namespace {

#define FIELD(group, word, field, value) ModWord{group, word, [](Mods& m) { m.field = value; }}
#define FLAG(word, field) ModWord{word, word, [](Mods& m) { m.field = true; }}
#define HINT(group, word) ModWord{group, word, nullptr}

constexpr ModWord kWords[] = {
    // A word written out in a syntax line takes its first entry here: `.lo` is the half, not the unsigned comparison.
    FIELD("half", ".lo", half, Half::Lo), FIELD("half", ".hi", half, Half::Hi), FIELD("half", ".wide", half, Half::Wide),
    FIELD("rnd", ".rn", rnd, Rnd::Rn), FIELD("rnd", ".rz", rnd, Rnd::Rz), FIELD("rnd", ".rm", rnd, Rnd::Rm),
    FIELD("rnd", ".rp", rnd, Rnd::Rp), FIELD("rna", ".rna", rnd, Rnd::Rna),
    FIELD("irnd", ".rni", rnd, Rnd::Rni), FIELD("irnd", ".rzi", rnd, Rnd::Rzi), FIELD("irnd", ".rmi", rnd, Rnd::Rmi),
    FIELD("irnd", ".rpi", rnd, Rnd::Rpi),
    FIELD("cmp", ".eq", cmp, Cmp::Eq), FIELD("cmp", ".ne", cmp, Cmp::Ne), FIELD("cmp", ".lt", cmp, Cmp::Lt),
    FIELD("cmp", ".le", cmp, Cmp::Le), FIELD("cmp", ".gt", cmp, Cmp::Gt), FIELD("cmp", ".ge", cmp, Cmp::Ge),
    FIELD("ucmp", ".lo", cmp, Cmp::Lo), FIELD("ucmp", ".ls", cmp, Cmp::Ls), FIELD("ucmp", ".hi", cmp, Cmp::Hi),
    FIELD("ucmp", ".hs", cmp, Cmp::Hs),
    FIELD("fcmp", ".equ", cmp, Cmp::Equ), FIELD("fcmp", ".neu", cmp, Cmp::Neu), FIELD("fcmp", ".ltu", cmp, Cmp::Ltu),
    FIELD("fcmp", ".leu", cmp, Cmp::Leu), FIELD("fcmp", ".gtu", cmp, Cmp::Gtu), FIELD("fcmp", ".geu", cmp, Cmp::Geu),
    FIELD("fcmp", ".num", cmp, Cmp::Num), FIELD("fcmp", ".nan", cmp, Cmp::Nan),
    FIELD("bool", ".and", boolop, BoolOp::And), FIELD("bool", ".or", boolop, BoolOp::Or),
    FIELD("bool", ".xor", boolop, BoolOp::Xor),
    FIELD("space", ".global", space, Space::Global), FIELD("space", ".shared", space, Space::Shared),
    FIELD("space", ".shared::cta", space, Space::Shared), FIELD("space", ".shared::cluster", space, Space::SharedCluster),
    FIELD("space", ".local", space, Space::Local), FIELD("space", ".const", space, Space::Const),
    FIELD("space", ".param", space, Space::Param), FIELD("space", ".param::entry", space, Space::ParamEntry),
    FIELD("space", ".param::func", space, Space::ParamFunc),
    FIELD("sem", ".weak", sem, Sem::Weak), FIELD("sem", ".volatile", sem, Sem::Volatile),
    FIELD("sem", ".relaxed", sem, Sem::Relaxed), FIELD("sem", ".acquire", sem, Sem::Acquire),
    FIELD("sem", ".release", sem, Sem::Release), FIELD("sem", ".acq_rel", sem, Sem::AcqRel),
    FIELD("sem", ".sc", sem, Sem::Sc), FIELD("sem", ".mmio", sem, Sem::Mmio),
    FIELD("scope", ".cta", scope, Scope::Cta), FIELD("scope", ".cluster", scope, Scope::Cluster),
    FIELD("scope", ".gpu", scope, Scope::Gpu), FIELD("scope", ".sys", scope, Scope::Sys),
    FIELD("level", ".cta", scope, Scope::Cta), FIELD("level", ".gl", scope, Scope::Gpu),
    FIELD("level", ".sys", scope, Scope::Sys),
    FIELD("op", ".and", op, Op::And), FIELD("op", ".or", op, Op::Or), FIELD("op", ".xor", op, Op::Xor),
    FIELD("op", ".cas", op, Op::Cas), FIELD("op", ".exch", op, Op::Exch), FIELD("op", ".add", op, Op::Add),
    FIELD("op", ".inc", op, Op::Inc), FIELD("op", ".dec", op, Op::Dec), FIELD("op", ".min", op, Op::Min),
    FIELD("op", ".max", op, Op::Max), FIELD("op", ".popc", op, Op::Popc),
    FIELD("shuffle", ".up", shuffle, Shuffle::Up), FIELD("shuffle", ".down", shuffle, Shuffle::Down),
    FIELD("shuffle", ".bfly", shuffle, Shuffle::Bfly), FIELD("shuffle", ".idx", shuffle, Shuffle::Idx),
    FIELD("vote", ".all", vote, Vote::All), FIELD("vote", ".any", vote, Vote::Any), FIELD("vote", ".uni", vote, Vote::Uni),
    FIELD("vote", ".ballot", vote, Vote::Ballot),
    FIELD("dir", ".l", dir, Direction::Left), FIELD("dir", ".r", dir, Direction::Right),
    FIELD("edge", ".clamp", edge, Edge::Clamp), FIELD("edge", ".wrap", edge, Edge::Wrap),
    FIELD("permute", ".f4e", permute, Permute::F4e), FIELD("permute", ".b4e", permute, Permute::B4e),
    FIELD("permute", ".rc8", permute, Permute::Rc8), FIELD("permute", ".ecl", permute, Permute::Ecl),
    FIELD("permute", ".ecr", permute, Permute::Ecr), FIELD("permute", ".rc16", permute, Permute::Rc16),
    FIELD("cop", ".ca", cache, Cache::Ca), FIELD("cop", ".cg", cache, Cache::Cg), FIELD("cop", ".cs", cache, Cache::Cs),
    FIELD("cop", ".lu", cache, Cache::Lu), FIELD("cop", ".cv", cache, Cache::Cv), FIELD("wcop", ".wb", cache, Cache::Wb),
    FIELD("wcop", ".cg", cache, Cache::Cg), FIELD("wcop", ".cs", cache, Cache::Cs), FIELD("wcop", ".wt", cache, Cache::Wt),
    FIELD("asem", ".relaxed", sem, Sem::Relaxed), FIELD("asem", ".acquire", sem, Sem::Acquire),
    FIELD("asem", ".release", sem, Sem::Release), FIELD("asem", ".acq_rel", sem, Sem::AcqRel),
    FIELD("rsem", ".relaxed", sem, Sem::Relaxed), FIELD("rsem", ".release", sem, Sem::Release),
    FIELD("test", ".finite", test, TestKind::Finite), FIELD("test", ".infinite", test, TestKind::Infinite),
    FIELD("test", ".number", test, TestKind::Number), FIELD("test", ".notanumber", test, TestKind::NotANumber),
    FIELD("test", ".normal", test, TestKind::Normal), FIELD("test", ".subnormal", test, TestKind::Subnormal),
    FIELD("btype", ".u32", b_signed, false), FIELD("btype", ".s32", b_signed, true),
    FIELD("second", ".add", op, Op::Add), FIELD("second", ".min", op, Op::Min), FIELD("second", ".max", op, Op::Max),
    FIELD("arith_op", ".add", op, Op::Add), FIELD("arith_op", ".min", op, Op::Min), FIELD("arith_op", ".max", op, Op::Max),
    FIELD("logic_op", ".and", op, Op::And), FIELD("logic_op", ".or", op, Op::Or), FIELD("logic_op", ".xor", op, Op::Xor),
    FIELD("scale", ".shr7", scale, 7), FIELD("scale", ".shr15", scale, 15),
    FIELD("subbyte", ".u4", pack, 4), FIELD("subbyte", ".s4", pack, -4), FIELD("subbyte", ".u2", pack, 2),
    FIELD("subbyte", ".s2", pack, -2),
    FIELD("vec", ".v2", vec, 2), FIELD("vec", ".v4", vec, 4), FIELD("vec", ".v8", vec, 8),
    FLAG(".ftz", ftz), FLAG(".sat", sat), FLAG(".satfinite", satfinite), FLAG(".relu", relu), FLAG(".NaN", nan),
    FLAG(".xorsign", xorsign), FLAG(".abs", abs), FLAG(".cc", cc), FLAG(".approx", approx), FLAG(".full", full),
    FLAG(".sync", sync), FLAG(".aligned", aligned), FLAG(".nc", nc), FLAG(".to", to),
    FLAG(".shiftamt", shiftamt), FLAG(".noftz", noftz), FLAG(".po", po), FLAG(".arrive", arrive),
    FLAG(".red", red), FLAG(".noinc", noinc),
    HINT("evict", ".L1::evict_normal"), HINT("evict", ".L1::evict_unchanged"), HINT("evict", ".L1::evict_first"),
    HINT("evict", ".L1::evict_last"), HINT("evict", ".L1::no_allocate"),
    FIELD("hint", ".L2::cache_hint", hint, true),
    HINT("prefetch_size", ".L2::64B"), HINT("prefetch_size", ".L2::128B"), HINT("prefetch_size", ".L2::256B"),
    HINT("evict2", ".L2::evict_last"), HINT("evict2", ".L2::evict_normal"), HINT("evict2", ".L2::evict_first"),
    HINT("plevel", ".L1"), HINT("plevel", ".L2"),
};

#undef FIELD
#undef FLAG
#undef HINT

}  // namespace

std::span<const ModWord> mod_words() { return kWords; }

}  // namespace warpbeam::isa
