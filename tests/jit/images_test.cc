// Textures read by a whole warp, by compiled code and by the interpreter, against what texture.h gives for each lane.
#include "both_engines.h"
#include "vm/images.h"
#include "vm/memory.h"

#include <bit>
#include <limits>

namespace warpbeam::vm {
namespace {

class Textures : public testing::Test {
 protected:
  static constexpr uint32_t kWidth = 37, kHeight = 13, kPitch = 640, kThreads = 64;

  // `in` has x and y for each thread; four words a thread come out.
  std::vector<uint32_t> run(const std::string& read, const std::vector<uint32_t>& in, bool interpret, uint64_t handle) {
    const std::string text = kernel(fmt::format(
        "mul.wide.u32 %d1, %t, 8; add.s64 %d1, %d1, %out; ld.global.v2.u32 {{%r1, %r2}}, [%d1]; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;\n"
        "mov.u64 %d2, {};\n{}\nmul.wide.u32 %d1, %t, 16; add.s64 %d1, %d1, %out; st.global.v4.u32 [%d1+4096], {{%r3, %r4, %r5, %r6}}; ret;",
        handle, read));
    const std::string_view view = text;
    auto program = Program::load({&view, 1}, memory_, {});
    EXPECT_TRUE(program) << program.error().message;
    if (!program) return {};
    const auto out = memory_.allocate(kWords * 4, 256, MemoryKind::Device, "out");
    std::memcpy(reinterpret_cast<void*>(out->base), in.data(), in.size() * 4);
    Launch launch;
    launch.program = program->get();
    launch.kernel = (*program)->find_kernel("k");
    launch.grid = {1, 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.memory = &memory_;
    launch.interpret = interpret;
    launch.params.resize(12);
    std::memcpy(launch.params.data(), &out->base, 8);
    if (!interpret) {
      const auto found = find_compiled(launch, false, true).kernel;
      EXPECT_TRUE(found && found->plan().find("textures") != std::string::npos) << (found ? found->plan() : "not compiled");
    }
    const LaunchResult result = Machine::instance().run(std::move(launch));
    EXPECT_EQ(result.trap.kind, TrapKind::None) << result.trap.message;
    std::vector<uint32_t> words(kThreads * 4);
    std::memcpy(words.data(), reinterpret_cast<const void*>(out->base + 4096), words.size() * 4);
    return words;
  }

  void compare(const Texture& texture, const char* read, bool whole, int dimensions, const char* what) {
    auto view = std::make_shared<ImageView>();
    view->use = ImageUse::Texture;
    view->texture = texture;
    view->begin = pixels_.base;
    view->bytes = pixels_.size;
    const uint64_t handle = memory_.images.add(view);
    std::vector<uint32_t> in;
    for (uint32_t t = 0; t < kThreads; ++t) {
      // A row of neighbours, then places here and there.
      float x = static_cast<float>(t) + 0.3f, y = 4.6f;
      if (t >= 32) x = static_cast<float>(t * 37 % 101) * 0.61f - 11, y = static_cast<float>(t * 53 % 31) * 0.83f - 5;
      if (texture.sampler.normalized_coordinates) x /= kWidth, y /= kHeight;
      if (t == 40) x = std::bit_cast<float>(0x7fc00000);
      if (t == 41) y = std::bit_cast<float>(1u);
      if (t == 42 && !whole) x = 1e30f;
      if (t == 43 && !whole) y = -std::numeric_limits<float>::infinity();
      in.push_back(whole ? static_cast<uint32_t>(static_cast<int32_t>(std::isnan(x) ? 0 : x)) : std::bit_cast<uint32_t>(x));
      in.push_back(whole ? static_cast<uint32_t>(static_cast<int32_t>(y)) : std::bit_cast<uint32_t>(y));
    }
    std::vector<uint32_t> wanted;
    for (uint32_t t = 0; t < kThreads; ++t) {
      TexturePoint p;
      p.x = std::bit_cast<float>(in[2 * t]);
      if (dimensions == 2) p.y = std::bit_cast<float>(in[2 * t + 1]);
      const Texel texel =
          whole ? fetch(texture, {static_cast<int32_t>(in[2 * t]), dimensions == 2 ? static_cast<int32_t>(in[2 * t + 1]) : 0, 0}, 0, 0)
                : sample(texture, p, 0, false);
      wanted.insert(wanted.end(), texel.begin(), texel.end());
    }
    for (const bool interpret : {true, false, false}) {  // at the first time the texture's memory is looked for
      const auto got = run(read, in, interpret, handle);
      for (size_t k = 0; k < got.size(); ++k)
        if (got[k] != wanted[k]) {
          ADD_FAILURE() << fmt::format("{}: thread {} component {}: {:#x}, wanted {:#x} ({})", what, k / 4, k % 4, got[k], wanted[k],
                                       interpret ? "interpreter" : "compiled");
          break;
        }
    }
    memory_.images.remove(handle);
  }

  Texture texture_of(TexelKind kind, uint8_t bits, uint8_t channels, int dimensions) {
    Texture t;
    t.image.format = {kind, bits, channels};
    t.image.dimensions = static_cast<uint8_t>(dimensions);
    t.image.levels[0] = {reinterpret_cast<std::byte*>(pixels_.base), kWidth, dimensions == 2 ? kHeight : 1, 1, kPitch, kPitch * kHeight};
    return t;
  }

  void SetUp() override {
    pixels_ = *memory_.allocate(kPitch * kHeight, 256, MemoryKind::Device, "pixels");
    auto* words = reinterpret_cast<uint32_t*>(pixels_.base);
    for (uint32_t k = 0; k < pixels_.size / 4; ++k) words[k] = ((k * 2654435761u) & 0x87ff87ff) + 0x38003800;
  }

  DeviceMemory memory_{uint64_t(1) << 30};
  Allocation pixels_;
};

TEST_F(Textures, GiveWhatEachLaneWouldRead) {
  struct Format {
    TexelKind kind;
    uint8_t bits;
  };
  for (const Format f : {Format{TexelKind::Float, 32},
                         {TexelKind::Float, 16},
                         {TexelKind::Unsigned, 8},
                         {TexelKind::Signed, 16},
                         {TexelKind::Signed, 32},
                         {TexelKind::UnsignedNormal, 8},
                         {TexelKind::SignedNormal, 8},
                         {TexelKind::UnsignedNormal, 16},
                         {TexelKind::SignedNormal, 16}})
    for (const uint8_t channels : {1, 4})
      for (const int dimensions : {1, 2})
        for (const AddressMode mode : {AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border})
          for (const bool linear : {false, true})
            for (const bool normalized : {false, true}) {
              Texture t = texture_of(f.kind, f.bits, channels, dimensions);
              t.sampler.address = {mode, mode, mode};
              t.sampler.linear = linear;
              t.sampler.normalized_coordinates = normalized;
              t.sampler.border = {0.25f, 0.5f, 0.75f, 1};
              compare(t,
                      dimensions == 1 ? "tex.1d.v4.u32.f32 {%r3, %r4, %r5, %r6}, [%d2, {%f1}];"
                                      : "tex.2d.v4.u32.f32 {%r3, %r4, %r5, %r6}, [%d2, {%f1, %f2}];",
                      false, dimensions,
                      fmt::format("kind {} of {} bits, {} channels, {}d, mode {}, linear {}, normalized {}", int(f.kind), f.bits, channels,
                                  dimensions, int(mode), linear, normalized)
                          .c_str());
              if (HasFailure()) return;
            }
}

TEST_F(Textures, GiveTexelsByTheirNumbers) {
  for (const bool flat : {true, false}) {
    Texture t = texture_of(TexelKind::Float, 32, 1, flat ? 1 : 2);
    t.image.buffer = flat;
    compare(t,
            flat ? "tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%d2, {%r1}];" : "tex.2d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%d2, {%r1, %r2}];",
            true, flat ? 1 : 2, flat ? "flat" : "2d");
  }
}

// Lanes that do not read keep what they have.
TEST_F(Textures, AreReadBySomeLanes) {
  Texture t = texture_of(TexelKind::Float, 32, 1, 2);
  auto view = std::make_shared<ImageView>();
  view->use = ImageUse::Texture;
  view->texture = t;
  view->begin = pixels_.base;
  view->bytes = pixels_.size;
  const uint64_t handle = memory_.images.add(view);
  std::vector<uint32_t> in(kThreads * 2, std::bit_cast<uint32_t>(2.5f));
  const auto run_both = [&](bool interpret) {
    return run("setp.gt.u32 %p1, %t, 11; @%p1 tex.2d.v4.u32.f32 {%r3, %r4, %r5, %r6}, [%d2, {%f1, %f2}];", in, interpret, handle);
  };
  const auto first = run_both(true), second = run_both(false);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first[0], 0u);
  EXPECT_NE(first[4 * 20], 0u);
}

}  // namespace
}  // namespace warpbeam::vm
