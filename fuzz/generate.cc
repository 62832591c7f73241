#include "fuzz/generate.h"

#include <fmt/format.h>

#include "fuzz/leaves.h"

namespace warpbeam::fuzz {

namespace {

class Generator {
 public:
  Generator(Kernel& kernel, Random& random, const Palette& palette) : random_(random), leaves_(kernel, random, palette) {}

  std::vector<Node> sequence(int length, Place place) {
    std::vector<Node> nodes;
    for (int k = 0; k < length; ++k) {
      Node node = one(place);
      if (node.kind == NodeKind::Exit && !place.function) exited_ = true;
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  Function function(int number) {
    Function f;
    f.name = fmt::format("f{}", number);
    f.wide = random_.chance(50);
    Place place;
    place.function = true;
    place.callable = number;
    f.body = sequence(random_.between(3, 9), place);
    return f;
  }

 private:
  Node one(Place place) {
    place.exited = exited_;
    const int dice = random_.between(0, 99);
    const bool deep = place.depth >= 3;
    if (!deep && dice < 9) return branch(place);
    if (!deep && dice < 14 && place.loops < 2) return loop(place);
    if (!deep && dice < 17) return switch_over(place);
    if (dice < 20 && place.may_break) return {random_.chance(60) ? NodeKind::Break : NodeKind::Continue, {}, condition(), {}};
    if (dice < 20 && place.breaks_together) return {NodeKind::Break, {}, condition(), {}};
    if (dice < 22 && place.depth == 0 && !place.function && random_.chance(40)) return {NodeKind::Exit, {}, condition(), {}};
    if (dice < 22 && place.function) return {NodeKind::Exit, {}, condition(), {}};
    return leaves_.make(place);
  }

  std::string condition() { return (random_.chance(30) ? "!" : "") + random_register(isa::Type::Pred, random_); }

  Node branch(Place place) {
    Node node;
    node.kind = NodeKind::If;
    Place inner = place;
    ++inner.depth;
    inner.breaks_together = false;
    if (place.uniform && random_.chance(30)) {
      // The same way for the whole block: barriers may stand inside.
      node.lines = {"mov.u32 %t0, %ctaid.x;", "add.u32 %t0, %t0, %s0;", "and.b32 %t0, %t0, 1;",
                    fmt::format("setp.{}.u32 %u2, %t0, 0;", random_.one_of({"eq", "ne"}))};
      node.condition = "%u2";
    } else {
      inner.uniform = false;
      if (random_.chance(50) && !place.function) {
        node.lines = {fmt::format("setp.{}.u32 %u2, {}, {};", random_.one_of({"lt", "ge", "eq", "ne"}),
                                  random_.one_of({"%tx", "%lin", "%ty", "%gt"}), random_.between(0, 40))};
        node.condition = "%u2";
      } else {
        node.condition = condition();
      }
    }
    node.parts.push_back(sequence(random_.between(1, 5), inner));
    node.parts.push_back(random_.chance(60) ? sequence(random_.between(1, 5), inner) : std::vector<Node>{});
    return node;
  }

  Node loop(Place place) {
    Node node;
    node.kind = NodeKind::Loop;
    Place inner = place;
    ++inner.depth;
    ++inner.loops;
    inner.may_break = inner.breaks_together = false;
    const int kind = random_.between(0, 3);
    if (kind == 0) {  // as often for every thread
      node.lines = {fmt::format("mov.u32 $N, {};", random_.between(1, 6))};
    } else if (kind == 1 && !place.function) {
      node.lines = {"and.b32 $N, %s0, 3;", "add.u32 $N, $N, 1;"};
    } else {  // differently
      inner.uniform = false;
      node.lines = {fmt::format("and.b32 $N, {}, 7;", kind == 2 && !place.function ? "%tx" : random_register(isa::Type::U32, random_)),
                    "add.u32 $N, $N, 1;"};
    }
    // Lanes may leave from anywhere where nothing inside speaks to them; else only where the others notice.
    if (!inner.uniform || random_.chance(50)) {
      inner.uniform = false;
      if (!place.masked || random_.chance(50)) {
        inner.masked = false;
        inner.may_break = true;
      } else {
        inner.breaks_together = true;
      }
    }
    node.parts.push_back(sequence(random_.between(2, 7), inner));
    return node;
  }

  Node switch_over(Place place) {
    Node node;
    node.kind = NodeKind::Switch;
    Place inner = place;
    ++inner.depth;
    inner.uniform = inner.breaks_together = false;
    const int ways = random_.chance(50) ? 2 : 4;
    const std::string from = random_.chance(40) && !place.function ? "%tx" : random_register(isa::Type::U32, random_);
    node.lines = {fmt::format("and.b32 %t0, {}, {};", from, ways - 1)};
    for (int k = 0; k < ways; ++k) node.parts.push_back(sequence(random_.between(0, 3), inner));
    return node;
  }

  Random& random_;
  Leaves leaves_;
  bool exited_ = false;
};

// Registers begin as numbers of all kinds: the same in every thread, in step with the thread, and any.
std::vector<Setup> setup(Random& random) {
  std::vector<Setup> list;
  const auto name = [&](char cls, int k) { return fmt::format("%{}{}", cls, k); };
  const auto from_input = [&](char cls, int k, Area area, const char* type, int bytes) {
    const std::string reg = name(cls, k);
    list.push_back({reg,
                    {fmt::format("mad.lo.u32 %t0, %gt, {}, {};", random.between(0, 3), random.between(0, 200)),
                     fmt::format("and.b32 %t0, %t0, {};", kAreaBytes / static_cast<uint32_t>(bytes) - 1),
                     fmt::format("mad.wide.u32 %a0, %t0, {}, %in;", bytes),
                     fmt::format("ld.global.{} {}, [%a0+{}];", type, reg, static_cast<uint32_t>(area) * kAreaBytes)}});
  };
  for (int k = 0; k < kRegisters; ++k) {
    const std::string r = name('r', k), p = name('p', k);
    switch (random.between(0, 4)) {
      case 0: list.push_back({r, {fmt::format("mov.u32 {}, %s{};", r, random.between(0, 1))}}); break;
      case 1: list.push_back({r, {fmt::format("mad.lo.u32 {}, %lin, {}, %s0;", r, random.between(0, 9))}}); break;
      case 2:
        list.push_back({r,
                        {fmt::format("mov.u32 {}, {};", r,
                                     random.one_of({"%laneid", "%ctaid.x", "%ntid.x", "%tid.y", "%lanemask_lt", "%nctaid.x"}))}});
        break;
      default: from_input('r', k, Area::Bits, "b32", 4);
    }
    if (random.chance(20)) list.push_back({name('f', k), {fmt::format("mov.f32 %f{}, %s2;", k)}});
    else from_input('f', k, Area::F32, "f32", 4);
    if (random.chance(20)) list.push_back({name('d', k), {fmt::format("cvt.u64.u32 %d{}, %tx;", k)}});
    else from_input('d', k, Area::Bits, "b64", 8);
    from_input('g', k, Area::F64, "f64", 8);
    from_input('h', k, Area::F16, "b16", 2);
    from_input('c', k, Area::Bits, "b8", 1);
    const char* compare = random.one_of({"lt", "ne", "ge"});
    if (random.chance(50)) list.push_back({p, {fmt::format("setp.{}.u32 {}, %lin, {};", compare, p, random.between(0, 33))}});
    else list.push_back({p, {fmt::format("setp.{}.s32 {}, {}, {};", compare, p, r, random.between(-2, 2))}});
  }
  for (int k = 0; k < kWideRegisters; ++k) list.push_back({name('q', k), {fmt::format("mov.b128 %q{0}, {{%d{0}, %d{1}}};", k, k + 1)}});
  return list;
}

}  // namespace

Kernel generate(uint64_t seed, const Palette& palette, Length length) {
  const bool is_short = length == Length::Short;
  Random random(seed);
  Kernel kernel;
  kernel.seed = seed;
  static const std::vector<std::array<uint32_t, 3>> kBlocks = {{32, 1, 1},  {32, 1, 1}, {64, 1, 1}, {33, 1, 1},  {7, 1, 1},  {128, 1, 1},
                                                               {16, 4, 1},  {8, 8, 2},  {5, 5, 1},  {100, 1, 1}, {32, 2, 1}, {3, 3, 3},
                                                               {16, 16, 1}, {1, 1, 1},  {2, 40, 1}, {32, 4, 1}};
  static const std::vector<std::array<uint32_t, 3>> kGrids = {{1, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1}};
  kernel.block = random.one_of(kBlocks);
  kernel.grid = random.one_of(kGrids);
  Generator generator(kernel, random, palette);
  const int functions = is_short ? random.chance(5) : random.between(0, 2);
  for (int k = 0; k < functions; ++k) kernel.functions.push_back(generator.function(k));
  kernel.setup = setup(random);
  Place top;
  top.uniform = top.masked = true;
  top.callable = functions;
  kernel.body = generator.sequence(is_short ? random.between(1, 6) : random.between(8, 30), top);
  if (is_short) kernel.stored = named_registers(kernel);
  return kernel;
}

}  // namespace warpbeam::fuzz
