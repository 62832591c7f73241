// Rows whose meaning lies in the engines: data movement, control, barriers, warp communication.
// Here stands what the parser, the generators and the reference page need.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa::rows {

// --- moves and addresses -----------------------------------------------------------------------------------------
struct Mov : EngineRow<Kind::Move, Class::Move> {
  static constexpr char syntax[] = "mov.type d, a";
  using T = Types<Type::B16, Type::B32, Type::B64, Type::B128, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32,
                  Type::S64, Type::F32, Type::F64, Type::Pred>;
  static constexpr std::string_view about =
      "Copies a register, an immediate, a special register or the address of a name; packs and unpacks vectors.";
};
struct Cvta : EngineRow<Kind::Address, Class::IntAlu> {
  static constexpr char syntax[] = "cvta{.to}(.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param|.param::entry).type d, a";
  static constexpr Since since{20, 20};
  using T = Types<Type::U32, Type::U64>;
  static constexpr std::string_view about = "Turns an address of a state space into a generic one, with .to back.";
};
struct Isspacep : EngineRow<Kind::Address, Class::IntAlu> {
  static constexpr char syntax[] = "isspacep(.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param|.param::entry) d:pred, a:u64";
  static constexpr Since since{20, 20};
};

// --- control -----------------------------------------------------------------------------------------------------
using Control = EngineRow<Kind::Control, Class::Branch>;
struct Bra : Control { static constexpr char syntax[] = "bra{.uni}"; };
struct BrxIdx : Control { static constexpr char syntax[] = "brx.idx{.uni}"; static constexpr Since since{60, 30}; };
struct Call : EngineRow<Kind::Control, Class::Call> {  // whatever the function does
  static constexpr char syntax[] = "call{.uni}";
  static constexpr Effects effects{true, true, true, true, true, true, true, true};
};
struct Ret : Control { static constexpr char syntax[] = "ret{.uni}"; };
struct Exit : Control { static constexpr char syntax[] = "exit"; };
struct StopRow : Control { static constexpr Effects effects{.traps = true}; };
struct TrapRow : StopRow { static constexpr char syntax[] = "trap"; };
struct Brkpt : StopRow { static constexpr char syntax[] = "brkpt"; };

// --- barriers and fences -----------------------------------------------------------------------------------------
using BarrierRow = EngineRow<Kind::Barrier, Class::Barrier>;
using FenceRow = EngineRow<Kind::Barrier, Class::Fence>;
struct BarSync : BarrierRow { static constexpr char syntax[] = "bar{.cta}.sync a:u32{, b:u32}"; };
struct BarArrive : BarrierRow { static constexpr char syntax[] = "bar{.cta}.arrive a:u32, b:u32"; static constexpr Since since{20, 20}; };
struct BarRedPred : BarrierRow { static constexpr char syntax[] = "bar{.cta}.red(.and|.or).pred p:pred, a:u32, c:pred"; static constexpr Since since{20, 20}; };
struct BarRedPredCount : BarrierRow { static constexpr char syntax[] = "bar{.cta}.red(.and|.or).pred p:pred, a:u32, c:pred"; static constexpr Since since{20, 20}; };
struct BarRedPredCounted : BarrierRow { static constexpr char syntax[] = "bar{.cta}.red(.and|.or).pred p:pred, a:u32, b:u32, c:pred"; static constexpr Since since{20, 20}; };
struct BarRedPopc : BarrierRow { static constexpr char syntax[] = "bar{.cta}.red.popc.u32 d:u32, a:u32, c:pred"; static constexpr Since since{20, 20}; };
struct BarRedPopcCount : BarrierRow { static constexpr char syntax[] = "bar{.cta}.red.popc.u32 d:u32, a:u32, c:pred"; static constexpr Since since{20, 20}; };
struct BarRedPopcCounted : BarrierRow { static constexpr char syntax[] = "bar{.cta}.red.popc.u32 d:u32, a:u32, b:u32, c:pred"; static constexpr Since since{20, 20}; };
struct BarrierSync : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.sync{.aligned} a:u32{, b:u32}"; static constexpr Since since{60, 30}; };
struct BarrierArrive : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.arrive{.aligned} a:u32, b:u32"; static constexpr Since since{60, 30}; };
struct BarrierRedPred : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.red(.and|.or){.aligned}.pred p:pred, a:u32, c:pred"; static constexpr Since since{60, 30}; };
struct BarrierRedPredCount : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.red(.and|.or){.aligned}.pred p:pred, a:u32, c:pred"; static constexpr Since since{60, 30}; };
struct BarrierRedPredCounted : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.red(.and|.or){.aligned}.pred p:pred, a:u32, b:u32, c:pred"; static constexpr Since since{60, 30}; };
struct BarrierRedPopc : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.red.popc{.aligned}.u32 d:u32, a:u32, c:pred"; static constexpr Since since{60, 30}; };
struct BarrierRedPopcCount : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.red.popc{.aligned}.u32 d:u32, a:u32, c:pred"; static constexpr Since since{60, 30}; };
struct BarrierRedPopcCounted : BarrierRow { static constexpr char syntax[] = "barrier{.cta}.red.popc{.aligned}.u32 d:u32, a:u32, b:u32, c:pred"; static constexpr Since since{60, 30}; };
struct BarWarpSync : BarrierRow { static constexpr char syntax[] = "bar.warp.sync a:u32"; static constexpr Since since{60, 30}; static constexpr Effects effects{.orders = true, .meets = true}; };
struct Membar : FenceRow { static constexpr char syntax[] = "membar.fence_level"; };
struct Fence : FenceRow { static constexpr char syntax[] = "fence{.sc|.acq_rel|.acquire|.release}.scope"; static constexpr Since since{60, 70}; };

// --- warp communication ------------------------------------------------------------------------------------------
using WarpRow = EngineRow<Kind::Warp, Class::Warp>;
struct Shfl : WarpRow { static constexpr char syntax[] = "shfl.shuffle.b32 d:b32{|p}, a:b32, b:b32, c:b32"; static constexpr Since since{30, 30}; };
struct ShflSync : WarpRow { static constexpr char syntax[] = "shfl.sync.shuffle.b32 d:b32{|p}, a:b32, b:b32, c:b32, e:u32"; static constexpr Since since{60, 30}; };
struct VotePred : WarpRow { static constexpr char syntax[] = "vote(.all|.any|.uni).pred d:pred, a:pred"; static constexpr Since since{12, 12}; };
struct VoteBallot : WarpRow { static constexpr char syntax[] = "vote.ballot.b32 d:b32, a:pred"; static constexpr Since since{20, 20}; };
struct VoteSyncPred : WarpRow { static constexpr char syntax[] = "vote.sync(.all|.any|.uni).pred d:pred, a:pred, e:u32"; static constexpr Since since{60, 30}; };
struct VoteSyncBallot : WarpRow { static constexpr char syntax[] = "vote.sync.ballot.b32 d:b32, a:pred, e:u32"; static constexpr Since since{60, 30}; };
struct MatchAny : WarpRow { static constexpr char syntax[] = "match.any.sync.type d:b32, a, e:u32"; static constexpr Since since{60, 70}; using T = Types<Type::B32, Type::B64>; };
struct MatchAll : WarpRow { static constexpr char syntax[] = "match.all.sync.type d:b32{|p}, a, e:u32"; static constexpr Since since{60, 70}; using T = Types<Type::B32, Type::B64>; };
struct Redux : WarpRow { static constexpr char syntax[] = "redux.sync.arith_op.type d, a, e:u32"; static constexpr Since since{70, 80}; using T = Types<Type::U32, Type::S32>; };
struct ReduxBits : WarpRow { static constexpr char syntax[] = "redux.sync.logic_op.b32 d:b32, a:b32, e:u32"; static constexpr Since since{70, 80}; using T = Types<Type::B32>; };
struct Activemask : WarpRow { static constexpr char syntax[] = "activemask.b32 d:b32"; static constexpr Since since{62, 30}; };
struct Elect : WarpRow { static constexpr char syntax[] = "elect.sync d:b32|p, e:u32"; static constexpr Since since{80, 90}; };

// --- the rest ----------------------------------------------------------------------------------------------------
using MiscRow = EngineRow<Kind::Misc, Class::Misc>;
struct Nanosleep : MiscRow { static constexpr char syntax[] = "nanosleep.u32 a:u32"; static constexpr Since since{63, 70}; static constexpr Effects effects{.waits = true}; };
struct Pmevent : MiscRow { static constexpr char syntax[] = "pmevent{.mask} #a:u32"; static constexpr Since since{14, 10}; };
struct Griddepcontrol : MiscRow { static constexpr char syntax[] = "griddepcontrol(.launch_dependents|.wait)"; static constexpr Since since{78, 90}; static constexpr Effects effects{.orders = true, .waits = true}; };
struct Setmaxnreg : MiscRow { static constexpr char syntax[] = "setmaxnreg(.inc|.dec).sync.aligned.u32 #a:u32"; static constexpr Since since{80, 90}; };
struct Alloca : MiscRow { static constexpr char syntax[] = "alloca.type d, a{, #b:u32}"; static constexpr Since since{73, 52}; using T = Types<Type::U32, Type::U64>; };
struct Stacksave : MiscRow { static constexpr char syntax[] = "stacksave.type d"; static constexpr Since since{73, 52}; using T = Types<Type::U32, Type::U64>; };
struct Stackrestore : MiscRow { static constexpr char syntax[] = "stackrestore.type a"; static constexpr Since since{73, 52}; using T = Types<Type::U32, Type::U64>; };

using Moves = RowList<Mov, Cvta, Isspacep>;
using ControlRows = RowList<Bra, BrxIdx, Call, Ret, Exit, TrapRow, Brkpt, BarSync, BarArrive, BarRedPred, BarRedPredCount, BarRedPredCounted, BarRedPopc, BarRedPopcCount, BarRedPopcCounted,
                            BarrierSync, BarrierArrive, BarrierRedPred, BarrierRedPredCount, BarrierRedPredCounted, BarrierRedPopc, BarrierRedPopcCount, BarrierRedPopcCounted, BarWarpSync, Membar, Fence>;
using WarpRows = RowList<Shfl, ShflSync, VotePred, VoteBallot, VoteSyncPred, VoteSyncBallot, MatchAny, MatchAll, Redux, ReduxBits, Activemask, Elect>;
using MiscRows = RowList<Nanosleep, Pmevent, Griddepcontrol, Setmaxnreg, Alloca, Stacksave, Stackrestore>;

}  // namespace warpbeam::isa::rows
