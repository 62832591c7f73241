// From a kernel with known shapes to LLVM's intermediate language: one function that runs a whole block.
//
// What it knows stands in parts with a purpose each: where it is (Place), what the code is for (Version), variables (Registers), ways
// from block to block (control_state.h), memory (accesses.h). What needs none of that stands apart: what is known of the code (Facts), what
// instructions compute (Arithmetic), memory that lanes read and write (LaneMemory).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "jit/access_plan.h"
#include "jit/accesses.h"
#include "jit/arithmetic.h"
#include "jit/facts.h"
#include "jit/fragment_lines.h"
#include "jit/lane_memory.h"
#include "jit/plan.h"
#include "jit/registers.h"
#include "jit/unrolled_block.h"
#include "jit/runtime.h"
#include "jit/warp_coarsening.h"
#include "jit/version.h"
#include "jit/watching.h"
#include "jit/control_state.h"
#include "jit/writing.h"

namespace warpbeam::jit {

uint64_t streaming_bytes();

class Emitter : private Words, private Facts {
 public:
  Emitter(Writing& writing, KernelPlan& plan, CompiledTables& tables, const Processor& processor);
  void run();

 private:
  // --- values (emit_values.cc)
  Value read(int32_t at, Width bytes);
  Value read_variable(uint32_t variable);
  Value read_special(const vm::FrameSlot& slot, Width bytes);
  void write(int32_t at, Width bytes, const Value& v);
  V lanes_at(uint32_t node);  // that are to run it
  void set_lanes(uint32_t node, V lanes);
  V guard_mask(const vm::Insn& insn);  // lanes of at_.active that take part

  // --- control (emit_control.cc, emit_regions.cc)
  void emit_region(size_t region, llvm::BasicBlock* entry);
  void emit_warps(const Region& region, V todo, bool once, llvm::BasicBlock* after);
  // Goes to a version of the region for what is guessed of masks, where that holds (emit_guessed.cc).
  void emit_guessed(const Region& region, V todo, llvm::BasicBlock* after);
  // Goes on with the grid's next blocks (emit_blocks.cc).
  void begin_blocks();
  void end_block();
  void emit_next_block();
  void go_on_by(uint32_t blocks);
  // Several blocks of the row as one warp (emit_packs.cc).
  void emit_pack(const Region& region);
  void emit_packed(const Region& region, const Pack& pack, uint32_t node, const std::vector<llvm::BasicBlock*>& blocks,
                   llvm::BasicBlock* finish);
  std::optional<Pack> find_pack(const Region& region) const;
  bool suits_pack(uint32_t node) const;
  void change_shapes(OtherShapes& other, Storage& storage);  // to those of a version, and back
  void emit_nodes(const Region& region);
  void emit_node(uint32_t node);
  void part(const Node& node, V taken);
  bool loops_whole(uint32_t node) const;  // emit_loops.cc
  void emit_whole_loop(uint32_t node);
  // Goes on with the first block that has lanes; `targets` have just been given some (all empty only if `may_be_none`).
  void leave_to(const std::vector<uint32_t>& targets, bool may_be_none) { leave_to(targets, may_be_none, flow_.nodes[at_.node].waits); }
  void leave_to(const std::vector<uint32_t>& targets, bool may_be_none, const Bits& waits);
  void add_lanes(uint32_t node, V lanes);
  llvm::BasicBlock* block_of(uint32_t node);
  bool inside(uint32_t node) const;
  void emit_instruction(const vm::Insn& insn);
  void find_full();
  // One value for the block, or one that grows evenly from warp to warp: kept in a scalar between regions.
  bool block_level(uint32_t variable) const { return registers_.block_level[variable]; }
  void find_block_level();
  V paced(size_t variable);
  // Which warps have anything to do in a region, a bit for each (emit_skip.cc); null: all of them.
  V warps_to_run(const Region& region);
  bool does_nothing(uint32_t node, const Region& region, bool& computes) const;
  std::vector<Saved> saved(const Bits& variables, bool between_regions);
  void store_saved(const std::vector<Saved>& all, V frame);
  void lay_out_spills(const Bits& variables);
  Bits live_across() const;  // regions
  V spill_place(uint32_t variable);
  void find_spill_piece();  // the warp's
  void load_spills(const Region& region);
  void load_spills(const Bits& variables);
  void store_spills(const Region& region);
  void store_spills(const Bits& variables);
  bool runs_once(const Region& region) const;  // all it does is the same in the whole block
  bool of_block(int32_t at, Width bytes) const;
  void emit_handover(Handover& h, V warp, V active, V first_warp);
  void emit_dispatch(const Region& region, bool once);
  void dispatch(const vm::Insn& insn);
  Handover& new_handover(const vm::Insn& at, Why why);
  void by_handler(const vm::Insn& insn);  // the interpreter's
  void emit_foreign(const vm::Insn& insn);  // known_rows.h
  void call_directly(const vm::Insn& insn);
  const Variable* passed(const Slot& slot) const;
  void take_result(const Slot& slot, V place);
  void note_structure();
  std::string plan_in_words() const;
  void hand_over(const vm::Insn& at, V when, Why why = Why::Wraps);  // branches to a stub where `when` holds
  V lanes_elsewhere(const vm::Insn& insn);  // of this warp: that wait at other places
  V live_lanes();  // where the machine keeps which lanes of this warp have not left

  // --- warps that stop at barriers (emit_stops.cc)
  void emit_by_stops(const Region& region, llvm::BasicBlock* entry);
  void emit_stop(const vm::Insn& barrier);
  V stopped_at();
  // --- warps that take turns (emit_turns.cc)
  void emit_warp_alone(const Region& region, llvm::BasicBlock* entry);
  void emit_way_for_others(const vm::Insn& next);
  void emit_barrier(const vm::Insn& insn);
  void emit_look(const vm::Insn& insn);
  void emit_poll(const Node& node);
  bool leaves_wait(uint32_t to) const;
  void note_passed(V lanes);
  void note_event(V happens);
  // --- barriers in memory (emit_mbarrier.cc)
  V barrier_place(const vm::WideOperand& at, llvm::BasicBlock* slow);
  bool emit_barrier_made(const vm::Insn& insn);
  V barrier_word(const vm::WideOperand& at, llvm::BasicBlock* slow, V* pointer);
  bool emit_arrival(const vm::Insn& insn);
  bool emit_test(const vm::Insn& insn);
  Value moved_by(int32_t slot, Width bytes, int64_t offset);  // emit_copy.cc
  void emit_copy(const vm::Insn& insn);
  // --- matrices in registers (emit_matrix.cc)
  static constexpr size_t kAll = ~size_t{0};
  bool emit_matrix(const vm::Insn& insn);
  bool emit_image(const vm::Insn& insn);  // emit_image.cc
  // Fragments between registers and memory (emit_fragments.cc).
  using FragmentPlace = std::function<V(int element, int lane)>;
  bool emit_fragment(const vm::Insn& insn);
  void load_fragment(const vm::WideOperand& to, const FragmentLines& lines, Width bytes, uint64_t step, const FragmentPlace& place);
  void store_fragment(const vm::WideOperand& from, const FragmentLines& lines, Width bytes, const FragmentPlace& place);
  V turned(V elements, int lines);
  V lanes_of_register(const vm::WideOperand& operand, size_t which);
  void put_registers(const vm::WideOperand& operand, V to, size_t different = kAll);
  void take_registers(const vm::WideOperand& operand, V from);
  V lanes_place(size_t operand);  // on the stack, for what is called with registers of lanes
  void emit_quick(const vm::Insn& insn, V done, const std::function<void()>& quick, const RangeCells* range = nullptr);
  void multiply_doubles(const vm::Insn& insn);

  // --- instructions
  bool emit_pure(const vm::Insn& insn);  // emit_arith.cc: results depend on operands alone
  bool emit_directed(const vm::Insn& insn);
  bool emit_video(const vm::Insn& insn);  // emit_video.cc
  V check_wrap(const vm::Insn& insn);
  V compare_shapes(const vm::Insn& insn, const Value& a, const Value& c);  // emit_masks.cc
  void emit_memory(const vm::Insn& insn);  // emit_memory.cc
  void narrow_again(const Access& a);
  void emit_meeting(const vm::Insn& insn);
  void emit_cells(const vm::Insn& insn, const CellAccess& cells);  // emit_local.cc
  bool emit_local(const vm::Insn& insn);
  V fits_local(const Access& a, const Value& offset, V mask);
  void touch_local(const Access& a, const Value& offset, V mask);
  V local_piece(V base, const Value& offset, uint64_t further, Width bytes, V mask, V stored);
  void emit_in_window(const Access& a, const Value& address, V mask, llvm::BasicBlock* join);
  void emit_warp(const vm::Insn& insn);  // emit_warp.cc
  V pick_lanes(V values, V from);
  void emit_match_any(const vm::Insn& insn);
  Line line_of_result(const vm::Insn& insn, const std::vector<std::pair<Value, Width>>& in);
  bool in_steps(const Access& a, const Value& address) const;
  V line_fits(const Access& a, const Line& line, V mask);
  void check_line(const Access& a, const Line& line, V mask, llvm::BasicBlock* slow);
  void touch_line(const Access& a, const Value& address, V mask);
  UniformPlusPattern spread_of_result(const vm::Insn& insn,
                                      const std::vector<std::pair<Value, Width>>& in);  // emit_uniform_plus_pattern.cc
  void touch_window(const Access& a, const Value& address, V mask, llvm::BasicBlock* other, llvm::BasicBlock* join);
  // Words that lie side by side in each lane (emit_interleaved.cc).
  static std::vector<Piece> pieces_of(std::vector<const vm::Insn*> loads);
  static std::vector<Piece> stored_pieces_of(std::vector<const vm::Insn*> stores);
  using PlacesOfPieces = std::vector<std::pair<Shape, std::vector<const vm::Insn*>>>;  // accesses around each, in their order
  void keep_pieces(std::vector<Piece> pieces, Record::Part* part);
  void settle_pieces(const std::vector<const vm::Insn*>& all, const Shape& base);
  void settle_records(const PlacesOfPieces& places);
  V record_stands(const Record& record);
  bool emit_record(const vm::Insn& insn, Record& record);
  void write_piece(const vm::Insn& load, const std::vector<V>& words, int64_t from);
  void store_pieces(const Piece& piece, const std::function<V(int)>& at);
  void find_pieces(uint32_t begin, uint32_t end, const std::vector<uint32_t>& ahead);
  bool emit_piece(const vm::Insn& insn);
  void emit_atomic(const vm::Insn& insn);  // emit_atomic.cc
  V combine(const vm::Insn& insn, V old, V b, V c, bool in_shared);
  V update_one(const vm::Insn& insn, V place, V b, V c, bool in_shared);
  V gathered(const vm::Insn& insn, const Value& v, V mask);
  bool emit_approximation(const vm::Insn& insn);
  void emit_library_call(const vm::Insn& insn);  // emit_call.cc
  void emit_pick(const vm::Insn& insn);
  void call_handler(const vm::Insn& insn, V mask, const RangeCells* range = nullptr);
  void call_detour(const vm::Insn& insn, V mask, const RangeCells* range, Detour::What what);
  V frame();

  // --- global and shared memory (emit_memory.cc: checks, emit_access.cc: the accesses)
  Value address_of(const Access& a);
  RangeCells& range_of(const Access& a);
  uint32_t new_cell();
  V cell(uint32_t number);
  void fill_lane_cells(const LaneCells& cells);
  V lo_of(RangeCells& range) { return cell(range.lo); }
  V is_large(RangeCells& range);
  V places_in(RangeCells& range, uint64_t total, uint64_t extent);
  V fits(const Access& a, V first, uint64_t extent);
  V fits_whole(const Access& a, const Value& address, int64_t from = 0, int64_t further = 0);
  V fits_ends(const Access& a, const Value& address, V mask);
  V fits_lanes(const Access& a, V addresses, V mask, uint64_t extent = 0);  // of as many bytes as the access has, or more
  void touch(const Access& a, const Value& address, V mask);
  AccessFacts facts_of(const Access& a, const Value& address, V mask) const;
  V pointer_to(const Access& a, V at, uint64_t offset = 0);
  V lane_addresses(const Access& a, const Value& address);
  void put_loaded(const Access& a, int k, V v);
  V stored_lanes(const Access& a, int k);
  V run_mask(V mask, int runs, int run);
  void load_dense(const Access& a, const Value& address, V mask);
  void load_places_of_runs(const Access& a, Value address, V mask);
  void store_runs(const Access& a, const Value& address, V mask);
  void store_last(const Access& a, const Value& address, V mask);
  void store_deferred(const Access& a, const Value& address, V mask);
  void touch_apart(const Access& a, const Value& address, V mask);
  void store_dense(const Access& a, V data, V address, V pointer);
  Value data_of(const Access& a, int k);
  bool may_be_compressed(const Access& a, const Value& address, V mask) const;  // emit_compressed.cc
  V picks(const char* name, V word, bool ranks);
  void store_compressed(const Access& a, V places, V mask, llvm::BasicBlock* join);
  std::optional<Indexed> indexed(const Access& a);
  bool load_near(const Access& a, V mask, llvm::BasicBlock* join);
  void store_in_a_row(const Access& a, V to, V mask);

  // --- loads from one stretch (emit_windows.cc)
  void find_windows(const std::vector<Access>& accesses);
  V from_windows(const Access& a, V pointer);
  void name_line(V address, bool stored = false, uint32_t closeness = 3);  // of memory: that it will be wanted soon
  void name_next_blocks(const Access& a, const Value& address);
  void name_next_turns(const Access& a, V address);
  std::vector<char> reached(uint32_t from, bool back) const;
  bool in_loop(uint32_t node) const { return reached(node, false)[node]; }
  bool changes_in_loop(uint32_t variable) const;  // on a way back to this node

  // --- prefix lanes (emit_prefix_lanes.cc)
  bool comes_in_order() const;
  bool suits_prefix_lanes(uint32_t first, uint32_t end, const std::vector<Access>& accesses) const;
  void emit_prefix_lanes(uint32_t first, uint32_t end, const std::vector<Access>& accesses, const std::vector<uint32_t>& ahead,
                         V none_wraps, llvm::BasicBlock* join);

  // --- stores that are put down (emit_deferred_transpose.cc)
  void find_late();
  V of_rows(size_t offset);
  void store_late(const Access& a, V data, const Line& line);
  void write_rows();

  // --- watched code (emit_watch.cc)
  V counters_from(uint32_t first, uint32_t many);
  void count(uint32_t counter, V by, V index = nullptr);
  V lanes_alive();
  void watch_node();
  void watch_end(const vm::Insn& insn, V mask);
  void watch_guarded(const vm::Insn& insn, V mask);
  void watch_table(const vm::Insn& insn, V lanes);
  void watch_exit(const vm::Insn& insn);
  void begin_staged();
  void settle_staged(const vm::Insn& insn, bool back);
  bool counts_banks(const vm::Insn& insn) const;
  void count_banks(const vm::Insn& insn, V lanes);
  void count_lanes(uint32_t site, V lanes, V mask, uint64_t bytes, V on_one_line = nullptr);
  void count_piece(const Piece& piece, V lanes, uint64_t bytes);
  V place_of(V address, uint64_t bytes);
  void watch_access(const vm::Insn& insn, const Value& address, V mask, uint64_t bytes);
  void tell_places(const vm::Insn& insn, const Value& address, V mask);
  V lie_apart(V lanes);
  uint32_t watch_site(const vm::Insn& insn, const Value& address, uint64_t bytes, bool lanes = false);
  std::vector<WordRun> words_of(const vm::Insn& insn, const Value& address, uint64_t bytes) const;  // emit_words.cc
  void begin_burst(V block, V group, V key, uint32_t place);
  void look_at_words(const vm::Insn& insn, const std::vector<WordRun>& all, V mask, llvm::BasicBlock* seen);
  bool loads_settled(const vm::Insn& insn) const;
  void skip_settled(const vm::Insn& insn, bool batch, const Value& address, V mask, llvm::BasicBlock* seen);
  // Loads that the observer is asked about together, when the first is made (emit_batches.cc).
  void find_batches(uint32_t begin, uint32_t end);
  bool watch_batched(const vm::Insn& insn, const Value& address, V mask, uint64_t bytes);
  V gap_of(const Value& address);  // null: nothing tells the distances of its stretches
  V ask_about(const vm::Insn& insn, const Value& address, V mask, uint64_t bytes);
  void tell_access(const vm::Insn& insn, const Value& address, V mask, uint64_t bytes, llvm::BasicBlock* on);
  void touched_last(const vm::Insn& insn);
  void watch_meeting(const vm::Insn& insn);
  void watch_fence(const vm::Insn& insn);
  void watch_barrier(const vm::Insn& insn);

  // --- straight code (emit_straight.cc)
  V run_ahead(const Straight& s);  // no address wrapped around
  V all_fit(const Straight& s, int warps = 1);  // so many whose places follow each other
  void emit_straight(uint32_t begin, uint32_t end);
  void emit_lane_loop(const LaneLoop& loop);  // emit_lanes.cc
  // Loops that a warp runs slice by slice (emit_subwarp.cc).
  std::vector<SubwarpLoop> find_subwarp_loops() const;
  bool emit_subwarp_loop(const SubwarpLoop& loop);  // false: the loop has to be written as a whole as well
  void emit_straight_in_subwarp(uint32_t begin, uint32_t end);
  bool keeps_old(const std::vector<uint32_t>& instructions) const;

  // --- warp coarsening (emit_coarsened.cc, find_coarsening.cc)
  void settle_coarsened(CoarsenedWarps& team, bool through);
  void name_counters(const CoarsenedWarps& team);
  CoarsenedWarps find_coarsening(const Region& region);
  CoarsenedWarps find_coarsening(const Region& region, bool may_store);
  bool stores_in_turn(const Region& region, const CoarsenedWarps& team) const;
  bool known_before_stores(const Node& node, size_t& pairs) const;
  V stores_meet_nothing(const Straight& s, int warps);
  bool suits_coarsening(const vm::Insn& insn, bool may_store = false) const;
  bool counts_for_itself(const CoarsenedWarps& team, uint32_t first, uint32_t last) const;
  bool gains_from_coarsening(const Region& region, const CoarsenedWarps& team) const;
  bool accesses_in_a_row(const Region& region, const CoarsenedWarps& team) const;
  bool only_streams(const Region& region, const CoarsenedWarps& team) const;
  bool hides_nothing(const Region& region, CoarsenedWarps& team) const;
  static constexpr uint32_t kTables = 4;  // emit_counts.cc
  V begin_counts(CoarsenedWarps& team);
  void clear_counts(CoarsenedWarps& team);
  void settle_counts(CoarsenedWarps& team);
  void count_in_turn(V at, const Value& value, bool known, const std::function<void(V, V, uint32_t)>& add);
  void as_member(CoarsenedWarps& team, size_t m);
  void first_warp_moves();  // at a barrier
  V warp_at(V turn);  // which warp's turn it is
  void begin_warp(const Region& region);
  void emit_coarsened(const Region& region, CoarsenedWarps& team, V turn, llvm::BasicBlock* single, llvm::BasicBlock* done);
  void emit_together(const Region& region, CoarsenedWarps& team, uint32_t node);
  void part_at(CoarsenedWarps& team, uint32_t node, const std::vector<V>& taken);
  void part_before(CoarsenedWarps& team, uint32_t node);
  void part(CoarsenedWarps& team, uint32_t node, bool before);
  void emit_resumed(const Region& region, CoarsenedWarps& team);
  bool ends_plainly(const Region& region) const;
  void find_steps(const Region& region, CoarsenedWarps& team);  // emit_steps.cc
  bool steps_along(uint32_t variable) const;
  bool steps_along(const vm::Insn& insn) const;
  V beyond_first(int64_t pace, Width bytes);
  V one_step_on(uint32_t variable);
  void check_step(const vm::Insn& insn);
  V in_a_row(const CoarsenedWarps& team);
  V all_fit_in_a_row(CoarsenedWarps& team, const Straight& s);
  Decision decides_in_a_row(const CoarsenedWarps& team, const Node& node) const;
  V all_go_on(CoarsenedWarps& team, const vm::Insn& compare, bool& holds);

  // --- what is known before the kernel runs (emit_known.cc)
  V folded(V value);
  bool knows_source(const Source& source) const;
  void find_known_of(const vm::Insn& insn);
  bool may_unroll() const;
  void find_known();
  std::vector<std::optional<WarpsValues>> known_from(uint32_t start, const WarpsValues& values, const Region* only, bool samples = false);
  std::optional<int64_t> sampled_pace(int32_t at, Width bytes) const;
  std::optional<WarpsValues> known_between(const Region& region, uint32_t to) const;

  // --- what is unrolled (emit_unrolled_block.cc; emit_in_registers.cc: memory and variables)
  bool can_unroll(const Region& region, bool whole) const;
  llvm::BasicBlock* way_to(const Region& from, uint32_t node);  // the unrolled one, or to the region that begins there
  llvm::BasicBlock* way_in();
  llvm::BasicBlock* unroll(UnrolledBlock& unrolled, uint32_t to);
  bool unroll_region(const Region& region);
  bool unroll_warp(const Region& region);
  std::optional<uint32_t> unrolled_mask(const vm::Insn& insn);
  std::optional<uint32_t> unrolled_branch(const Region& region);
  bool unroll_instruction(const vm::Insn& insn);
  bool unroll_access(const Access& access, uint32_t mask);
  bool stores_pass(const Access& load);
  bool unroll_global(const Access& access, uint32_t mask);
  void take_for_granted(V condition);
  void note_executed(const vm::Insn& insn, uint32_t active, uint32_t on);
  void note_made(const Access& access, uint32_t mask, const std::vector<int64_t>& words);
  void count_unrolled();
  bool tells() const { return watch_ && watch_->wanted.events; }
  llvm::BasicBlock* elsewhere();
  void tell_unrolled(const vm::Insn& insn, const Value& address, V mask, uint64_t bytes);
  void tell_stores();
  V as_first(const vm::Insn& insn, V value, int64_t pace, bool& first);
  V goes_one_way(const vm::Insn& compare, bool wanted);
  void look_at_condition();
  bool note_access(size_t word, bool load);
  bool note_lane(size_t word, int lane, bool load);
  V unrolled_word(size_t word, uint8_t& lane);
  V gather_unchanged(const std::vector<int64_t>& words);
  V gather_words(const std::vector<int64_t>& words);
  const Cells& unrolled_cells(uint32_t variable);
  void write_unrolled(uint32_t variable, Value value);
  static std::pair<V, int64_t> sum_of(V v);
  bool fill_each_other(const UnrolledStore& a, const UnrolledStore& b) const;
  void end_unrolled();
  void keep_unrolled(uint32_t to);
  void store_unrolled();

  KernelPlan& changed_plan_;  // whose shapes are others for a while: those of a version
  CompiledTables& tables_;
  Arithmetic arithmetic_;
  LaneMemory lane_memory_;
  Place at_;
  Version as_;
  Registers registers_;
  RegionSpills spills_;
  ControlState control_;
  Votes votes_;
  Stops stops_;
  BlockRow row_;
  KnownRanges ranges_;
  NamedMemory named_;
  LateStore late_;
  Interleaved interleaved_;
  UnrolledBlocks unrolled_;
  Watching watching_;
  std::set<std::string> handlers_;  // of the interpreter, that have been called
  std::array<V, 4> lanes_places_{};
};

}  // namespace warpbeam::jit
