#include "tensor_cases.h"

namespace warpbeam::tensor_test {
namespace {

// --- numbers -----------------------------------------------------------------------------------------------------

class Random {
 public:
  Random(const std::string& seed, int trial) : state_(0xcbf29ce484222325u + static_cast<uint64_t>(trial)) {
    for (char c : seed) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

 private:
  uint64_t state_;
};

struct Layout {
  int exponent, mantissa;
};
Layout layout_of(Format f) {
  switch (f) {
    case Format::F16: return {5, 10};
    case Format::BF16: return {8, 7};
    case Format::TF32:
    case Format::F32: return {8, 23};
    case Format::F64: return {11, 52};
    case Format::E4M3: return {4, 3};
    case Format::E5M2: return {5, 2};
    default: return {0, 0};
  }
}

// How numbers of a trial are spread: from all of about one size to arbitrary bits.
uint64_t random_float(Random& random, Format format, int mode) {
  const Layout l = layout_of(format);
  const uint64_t raw = random.next();
  const uint64_t sign = raw >> 63 << (l.exponent + l.mantissa), fraction = raw & ((uint64_t{1} << l.mantissa) - 1);
  const int top = (1 << l.exponent) - 1, bias = top >> 1;
  const auto near_one = [&](int spread) {
    int e = bias - spread + static_cast<int>(random.below(static_cast<uint32_t>(2 * spread + 1)));
    return e < 0 ? 0 : e >= top ? top - 1 : e;
  };
  int e = bias;
  switch (mode % 8) {
    case 0: e = near_one(0); break;
    case 1: e = near_one(2); break;
    case 2: return raw & (format == Format::F64 ? ~uint64_t{0} : (uint64_t{1} << (1 + l.exponent + l.mantissa)) - 1);
    case 3: e = near_one(12); break;
    case 4: e = static_cast<int>(random.below(static_cast<uint32_t>(top))); break;
    case 5: e = static_cast<int>(random.below(3)); break;
    case 6:
      if (random.below(3) == 0) return sign;
      e = near_one(3);
      return sign | static_cast<uint64_t>(e) << l.mantissa | (random.below(2) ? 0 : fraction);
    case 7:
      switch (random.below(48)) {
        case 0: return sign | static_cast<uint64_t>(top) << l.mantissa;
        case 1: return sign | static_cast<uint64_t>(top) << l.mantissa | fraction;
        case 2: return sign | static_cast<uint64_t>(top - 1) << l.mantissa | fraction;
        case 3: return sign;
        default: e = near_one(6);
      }
  }
  return sign | static_cast<uint64_t>(e) << l.mantissa | fraction;
}

void fill(std::vector<uint32_t>& words, size_t at, int count, Format format, int element_bits, Random& random, int trial) {
  for (int k = 0; k < count; ++k) {
    uint32_t& w = words[at + static_cast<size_t>(k)];
    switch (format) {
      case Format::Bits: w = static_cast<uint32_t>(random.next() >> 32); break;
      case Format::F16:
      case Format::BF16: w = static_cast<uint32_t>(random_float(random, format, trial) | random_float(random, format, trial) << 16); break;
      case Format::TF32:
      case Format::F32: w = static_cast<uint32_t>(random_float(random, format, trial)); break;
      case Format::F64: {
        const uint64_t v = random_float(random, format, trial);
        w = static_cast<uint32_t>(v);
        words[at + static_cast<size_t>(++k)] = static_cast<uint32_t>(v >> 32);
        break;
      }
      case Format::E4M3:
      case Format::E5M2:
        w = 0;
        for (int b = 0; b < 4; ++b) w |= static_cast<uint32_t>(random_float(random, format, trial)) << 8 * b;
        break;
      case Format::Index: {  // element i holds the trial-th digit of i, so that the trials together tell which it is
        w = 0;
        const int per_word = 32 / element_bits;
        for (int e = 0; e < per_word; ++e) {
          const uint32_t index = static_cast<uint32_t>(k * per_word + e);
          const uint32_t digit = element_bits == 32 ? index : index >> (trial * element_bits) & ((1u << element_bits) - 1);
          w |= digit << (e * element_bits);
        }
        break;
      }
      case Format::Meta: {
        static constexpr uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
        w = 0;
        for (int b = 0; b < 8; ++b) w |= kPairs[random.below(6)] << 4 * b;
        break;
      }
      case Format::MetaTF32:
        w = 0;
        for (int b = 0; b < 8; ++b) w |= (random.below(2) ? 0xeu : 0x4u) << 4 * b;
        break;
    }
  }
}

// --- kernels -----------------------------------------------------------------------------------------------------

std::string num(int n) { return std::to_string(n); }

// A vector of registers: `%r4, %r5` in braces.
std::string registers(char cls, int first, int count) {
  std::string s = "{";
  for (int k = 0; k < count; ++k) s += (k ? std::string(",%") : std::string("%")) + cls + num(first + k);
  return s + "}";
}

struct Fragment {  // operands as registers of a class: 'r' 32 bits, 'f' f32, 'g' f64
  char cls = 'r';
  int count = 0;
  int first = 0;
  int words() const { return cls == 'g' ? count * 2 : count; }
  std::string text() const { return registers(cls, first, count); }
};

std::string head(const std::string& kernel, int threads, int trial_words, int thread_words, int output_words) {
  return ".visible .entry " + kernel + "(.param .u64 pin, .param .u64 pout) .reqntid " + num(threads) + " {\n" +
         ".reg .b32 %r<160>; .reg .f32 %f<160>; .reg .f64 %g<40>; .reg .b32 %t<8>; .reg .b64 %a<12>; .reg .pred "
         "%p<4>;\n" +
         "ld.param.u64 %a0, [pin]; ld.param.u64 %a1, [pout]; mov.u32 %t0, %tid.x; mov.u32 %t1, %ctaid.x;\n" + "mad.wide.u32 %a2, %t1, " +
         num(trial_words * 4) + ", %a0; mad.wide.u32 %a3, %t0, " + num(thread_words * 4) + ", %a2;\n" + "mad.wide.u32 %a4, %t1, " +
         num(output_words * 4 * threads) + ", %a1; mad.wide.u32 %a4, %t0, " + num(output_words * 4) + ", %a4;\n";
}
std::string load(const Fragment& f, int& at) {
  std::string s;
  for (int k = 0; k < f.count; ++k) {
    s += std::string("ld.global.") +
         (f.cls == 'g'   ? "f64"
          : f.cls == 'f' ? "f32"
                         : "b32") +
         " %" + f.cls + num(f.first + k) + ", [%a3+" + num(at * 4) + "];\n";
    at += f.cls == 'g' ? 2 : 1;
  }
  return s;
}
std::string store(const Fragment& f) {
  std::string s;
  for (int k = 0; k < f.count; ++k)
    s += std::string("st.global.") +
         (f.cls == 'g'   ? "f64"
          : f.cls == 'f' ? "f32"
                         : "b32") +
         " [%a4+" + num(k * (f.cls == 'g' ? 8 : 4)) + "], %" + f.cls + num(f.first + k) + ";\n";
  return s;
}

class Cases {
 public:
  std::vector<TensorCase> list;

  // D = op(A, B, C[, metadata]) on registers.
  void add(const std::string& statement, Fragment d, std::vector<std::pair<Fragment, Format>> sources, const std::string& suffix,
           int trials) {
    TensorCase c;
    c.name = statement + (suffix.empty() ? "" : " " + suffix);
    c.kernel = "t" + num(static_cast<int>(list.size()));
    c.trials = trials;
    int first[128] = {};
    d.first = 0;
    first[static_cast<int>(d.cls)] = d.count;
    for (auto& [f, format] : sources) {
      f.first = first[static_cast<int>(f.cls)];
      first[static_cast<int>(f.cls)] += f.count;
      c.inputs.push_back({format, f.words(), false, 0});
    }
    c.output_words = d.words();
    std::string body;
    int at = 0;
    for (auto& [f, format] : sources) body += load(f, at);
    body += statement + " " + d.text();
    for (auto& [f, format] : sources)
      body += (format == Format::Meta || format == Format::MetaTF32) ? ", %r" + num(f.first) : ", " + f.text();
    body += (suffix.empty() ? "" : ", " + suffix) + ";\n" + store(d);
    c.text = head(c.kernel, 32, c.trial_words(), c.thread_words(), c.output_words) + body + "ret;\n}\n";
    list.push_back(c);
  }

  // What a fragment load puts into registers; `shared` words are the matrix.
  void add_memory(const std::string& name, const std::string& body, int trials, Region matrix, Fragment d) {
    TensorCase c;
    c.name = name;
    c.kernel = "t" + num(static_cast<int>(list.size()));
    c.trials = trials;
    c.inputs = {matrix};
    c.output_words = d.words();
    c.text = head(c.kernel, 32, c.trial_words(), 0, c.output_words) + body + store(d) + "ret;\n}\n";
    list.push_back(c);
  }

  // A warp group's product with tiles in shared memory.
  void add_wgmma(const std::string& statement, const std::string& tail, Fragment d, Format c_format, Fragment a, Format a_format,
                 Format b_format, uint64_t a_descriptor, uint64_t b_descriptor, bool scale_d, const std::string& note) {
    TensorCase c;
    c.name = statement + " " + tail + " " + note;
    c.kernel = "t" + num(static_cast<int>(list.size()));
    c.threads = 128;
    c.trials = 8;
    d.first = 0;
    c.inputs.push_back({c_format, d.words(), false, 0});
    if (a.count) c.inputs.push_back({a_format, a.count, false, 0});
    constexpr int kTileWords = 5120;  // 20 KiB each
    c.inputs.push_back({a_format, kTileWords, true, 0});
    c.inputs.push_back({b_format, kTileWords, true, 0});
    c.output_words = d.words();
    std::string s = head(c.kernel, 128, c.trial_words(), c.thread_words(), c.output_words);
    s += ".shared .align 1024 .b8 tiles[40960];\n";
    int at = 0;
    s += load(d, at);
    if (a.count) {
      a.first = d.cls == 'r' ? d.count : 0;
      s += load(a, at);
    }
    s += "add.u64 %a5, %a2, " + num(c.thread_words() * 4 * 128) + ";\nmov.u32 %t2, tiles; shl.b32 %t3, %t0, 2;\n";
    s += "L: cvt.u64.u32 %a6, %t3; add.u64 %a6, %a5, %a6; ld.global.b32 %t4, [%a6]; add.u32 %t5, %t2, %t3; "
         "st.shared.b32 [%t5], %t4;\n";
    s += "add.u32 %t3, %t3, 512; setp.lt.u32 %p0, %t3, 40960; @%p0 bra L;\n";
    s += "fence.proxy.async; bar.sync 0;\n";
    s += "shr.u32 %t2, %t2, 4; cvt.u64.u32 %a7, %t2; add.u64 %a8, %a7, 1280;\n";
    s += "add.u64 %a7, %a7, " + std::to_string(a_descriptor) + "; add.u64 %a8, %a8, " + std::to_string(b_descriptor) + ";\n";
    s += "mov.u32 %t6, " + num(scale_d) + "; setp.ne.u32 %p1, %t6, 0;\nwgmma.fence.sync.aligned;\n";
    s += statement + " " + d.text() + ", " + (a.count ? a.text() : "%a7") + ", %a8, %p1" + (tail.empty() ? "" : ", " + tail) + ";\n";
    s += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" + store(d) + "ret;\n}\n";
    c.text = s;
    list.push_back(c);
  }
};

struct Type {
  const char* name;
  Format format;
  int bits;
};
constexpr Type kF16{"f16", Format::F16, 16}, kBF16{"bf16", Format::BF16, 16}, kTF32{"tf32", Format::TF32, 32}, kF64{"f64", Format::F64, 64},
    kE4M3{"e4m3", Format::E4M3, 8}, kE5M2{"e5m2", Format::E5M2, 8}, kU8{"u8", Format::Bits, 8}, kS8{"s8", Format::Bits, 8},
    kU4{"u4", Format::Bits, 4}, kS4{"s4", Format::Bits, 4}, kB1{"b1", Format::Bits, 1}, kF32{"f32", Format::F32, 32},
    kS32{"s32", Format::Bits, 32};

Fragment fragment(const Type& t, int elements) {
  const char cls = t.bits == 64 ? 'g' : t.format == Format::F32 ? 'f' : 'r';
  return {cls, elements * (cls == 'g' ? 1 : t.bits) / (cls == 'g' ? 32 : 1024), 0};
}

void add_mma(Cases& out, const std::string& shape, int m, int n, int k, const Type& d, const Type& a, const Type& b, const Type& c,
             const std::string& before = "", const std::string& after = "", const std::string& layout = ".row.col", int copies = 1,
             int trials = 64) {
  const std::string statement =
      "mma.sync.aligned." + shape + layout + before + "." + d.name + "." + a.name + "." + b.name + "." + c.name + after;
  out.add(statement, fragment(d, m * n * copies),
          {{fragment(a, m * k * copies), a.format}, {fragment(b, k * n * copies), b.format}, {fragment(c, m * n * copies), c.format}}, "",
          trials);
}

void add_sparse(Cases& out, const std::string& shape, int m, int n, int k, const Type& d, const Type& a, const Type& b, int selector,
                const std::string& before = "") {
  const std::string statement =
      "mma.sp::ordered_metadata.sync.aligned." + shape + ".row.col" + before + "." + d.name + "." + a.name + "." + b.name + "." + d.name;
  out.add(statement, fragment(d, m * n),
          {{fragment(a, m * k / 2), a.format},
           {fragment(b, k * n), b.format},
           {fragment(d, m * n), d.format},
           {Fragment{'r', 1, 0}, a.bits == 32 ? Format::MetaTF32 : Format::Meta}},
          num(selector), 24);
}

void add_all_mma(Cases& out) {
  for (const char* layout : {".row.col", ".row.row", ".col.row", ".col.col"})
    for (auto [d, c] : {std::pair{kF16, kF16}, std::pair{kF32, kF16}, std::pair{kF32, kF32}})
      add_mma(out, "m8n8k4", 8, 8, 4, d, kF16, kF16, c, "", "", layout, 4);
  for (const Type& d : {kF16, kF32}) {
    add_mma(out, "m16n8k8", 16, 8, 8, d, kF16, kF16, d);
    add_mma(out, "m16n8k16", 16, 8, 16, d, kF16, kF16, d, "", "", ".row.col", 1, 128);
  }
  add_mma(out, "m16n8k8", 16, 8, 8, kF32, kBF16, kBF16, kF32);
  add_mma(out, "m16n8k16", 16, 8, 16, kF32, kBF16, kBF16, kF32);
  add_mma(out, "m16n8k4", 16, 8, 4, kF32, kTF32, kTF32, kF32);
  add_mma(out, "m16n8k8", 16, 8, 8, kF32, kTF32, kTF32, kF32, "", "", ".row.col", 1, 128);
  add_mma(out, "m8n8k4", 8, 8, 4, kF64, kF64, kF64, kF64);
  for (int k : {4, 8, 16}) add_mma(out, "m16n8k" + num(k), 16, 8, k, kF64, kF64, kF64, kF64);
  for (const char* rounding : {".rz", ".rm", ".rp"}) add_mma(out, "m8n8k4", 8, 8, 4, kF64, kF64, kF64, kF64, rounding);
  for (const Type& a : {kE4M3, kE5M2})
    for (const Type& b : {kE4M3, kE5M2})
      for (const Type& d : {kF16, kF32}) {
        add_mma(out, "m16n8k16", 16, 8, 16, d, a, b, d);
        add_mma(out, "m16n8k32", 16, 8, 32, d, a, b, d, "", "", ".row.col", 1, 128);
      }
  for (const char* sat : {"", ".satfinite"}) {
    for (const Type& a : {kU8, kS8})
      for (const Type& b : {kU8, kS8}) {
        add_mma(out, "m8n8k16", 8, 8, 16, kS32, a, b, kS32, sat, "", ".row.col", 1, 4);
        add_mma(out, "m16n8k16", 16, 8, 16, kS32, a, b, kS32, sat, "", ".row.col", 1, 4);
        add_mma(out, "m16n8k32", 16, 8, 32, kS32, a, b, kS32, sat, "", ".row.col", 1, 4);
      }
    for (const Type& a : {kU4, kS4})
      for (const Type& b : {kU4, kS4}) {
        add_mma(out, "m8n8k32", 8, 8, 32, kS32, a, b, kS32, sat, "", ".row.col", 1, 4);
        add_mma(out, "m16n8k32", 16, 8, 32, kS32, a, b, kS32, sat, "", ".row.col", 1, 4);
        add_mma(out, "m16n8k64", 16, 8, 64, kS32, a, b, kS32, sat, "", ".row.col", 1, 4);
      }
  }
  for (const char* op : {".xor.popc", ".and.popc"}) {
    add_mma(out, "m8n8k128", 8, 8, 128, kS32, kB1, kB1, kS32, "", op, ".row.col", 1, 4);
    add_mma(out, "m16n8k128", 16, 8, 128, kS32, kB1, kB1, kS32, "", op, ".row.col", 1, 4);
    add_mma(out, "m16n8k256", 16, 8, 256, kS32, kB1, kB1, kS32, "", op, ".row.col", 1, 4);
  }
  for (int selector : {0, 1, 2, 3}) add_sparse(out, "m16n8k16", 16, 8, 16, kF32, kF16, kF16, selector);
  for (int selector : {0, 1}) add_sparse(out, "m16n8k32", 16, 8, 32, kF32, kF16, kF16, selector);
  add_sparse(out, "m16n8k16", 16, 8, 16, kF16, kF16, kF16, 1);
  add_sparse(out, "m16n8k32", 16, 8, 32, kF16, kF16, kF16, 1);
  add_sparse(out, "m16n8k16", 16, 8, 16, kF32, kBF16, kBF16, 2);
  add_sparse(out, "m16n8k32", 16, 8, 32, kF32, kBF16, kBF16, 1);
  for (int selector : {0, 1, 2, 3}) add_sparse(out, "m16n8k8", 16, 8, 8, kF32, kTF32, kTF32, selector);
  for (int selector : {0, 1}) add_sparse(out, "m16n8k16", 16, 8, 16, kF32, kTF32, kTF32, selector);
  for (int selector : {0, 1}) add_sparse(out, "m16n8k32", 16, 8, 32, kS32, kU8, kS8, selector);
  add_sparse(out, "m16n8k64", 16, 8, 64, kS32, kS8, kS8, 0);
  add_sparse(out, "m16n8k64", 16, 8, 64, kS32, kS8, kU8, 0, ".satfinite");
  for (int selector : {0, 1}) add_sparse(out, "m16n8k64", 16, 8, 64, kS32, kU4, kS4, selector);
  add_sparse(out, "m16n8k128", 16, 8, 128, kS32, kS4, kS4, 0);
  add_sparse(out, "m16n8k64", 16, 8, 64, kF32, kE4M3, kE5M2, 0);
}

// Registers that a wmma fragment has: those of f16 hold every element twice.
Fragment wmma_fragment(const Type& t, int elements) {
  Fragment f = fragment(t, elements);
  if (t.format == Format::F16) f.count *= 2;
  if (t.format == Format::F16 && elements != 256) f.count = 8;
  return f;
}

void add_wmma_shape(Cases& out, const std::string& shape, int m, int n, int k, const Type& ab,
                    const std::vector<std::pair<Type, Type>>& results, bool layouts, const std::vector<std::string>& words) {
  const std::vector<std::string> both{"row", "col"};
  const auto loads = [&](char which, const Type& t, int rows, int columns, const std::string& layout, Fragment f) {
    const int stride = (layout == "row" ? columns : rows);
    const std::string body = std::string("wmma.load.") + which + ".sync.aligned." + layout + "." + shape + ".global." + t.name + " " +
                             f.text() + ", [%a2], " + num(stride) + ";\n";
    int digits = 1;
    while (t.bits < 16 && digits * t.bits < 12) ++digits;
    const int width = t.bits == 64 ? 32 : t.bits;
    out.add_memory(std::string("wmma.load.") + which + "." + layout + "." + shape + "." + t.name, body, t.bits == 1 ? 12 : digits,
                   {Format::Index, rows * columns * t.bits / 32, true, width}, f);
  };
  for (const std::string& layout : both) {
    if (layouts || layout == "row") loads('a', ab, m, k, layout, wmma_fragment(ab, m * k));
    if (layouts || layout == "col") loads('b', ab, k, n, layout, wmma_fragment(ab, k * n));
  }
  std::vector<std::string> seen;
  for (const auto& [d, c] : results) {
    bool again = false;
    for (const std::string& s : seen) again = again || s == c.name;
    if (!again)
      for (const std::string& layout : both) loads('c', c, m, n, layout, fragment(c, m * n));
    seen.push_back(c.name);
    for (const std::string& al : both)
      for (const std::string& bl : both) {
        if (!layouts && (al != "row" || bl != "col")) continue;
        for (const std::string& word : words) {
          // a, b and c are loaded, so that every element of a fragment is what it must be wherever it stands twice.
          const Fragment fd{fragment(d, m * n).cls, fragment(d, m * n).count, 0};
          Fragment fa = wmma_fragment(ab, m * k), fb = wmma_fragment(ab, k * n), fc = fragment(c, m * n);
          fa.first = fa.cls == 'g' ? 8 : 32;
          fb.first = fb.cls == 'g' ? 16 : 48;
          fc.first = fc.cls == 'g' ? 24 : 64;
          TensorCase t;
          const bool f16 = ab.format == Format::F16;
          const std::string types =
              f16 ? std::string(".") + d.name + "." + c.name : std::string(".") + d.name + "." + ab.name + "." + ab.name + "." + c.name;
          const bool one_bit = ab.bits == 1;
          const std::string statement = std::string("wmma.mma") + (one_bit ? word : "") + ".sync.aligned." + al + "." + bl + "." + shape +
                                        types + (one_bit ? "" : word);
          t.name = statement;
          t.kernel = "t" + num(static_cast<int>(out.list.size()));
          t.trials = ab.format == Format::Bits ? 4 : 32;
          t.inputs = {{ab.format, m * k * ab.bits / 32, true, 0},
                      {ab.format, k * n * ab.bits / 32, true, 0},
                      {c.format, m * n * c.bits / 32, true, 0}};
          t.output_words = fd.words();
          const auto one = [&](char which, const std::string& layout, const Type& type, const Fragment& f, int offset, int rows,
                               int columns) {
            return std::string("wmma.load.") + which + ".sync.aligned." + layout + "." + shape + ".global." + type.name + " " + f.text() +
                   ", [%a2+" + num(offset * 4) + "], " + num(layout == "row" ? columns : rows) + ";\n";
          };
          std::string body = one('a', al, ab, fa, 0, m, k) + one('b', bl, ab, fb, t.inputs[0].words, k, n) +
                             one('c', "row", c, fc, t.inputs[0].words + t.inputs[1].words, m, n);
          body += statement + " " + fd.text() + ", " + fa.text() + ", " + fb.text() + ", " + fc.text() + ";\n" + store(fd);
          t.text = head(t.kernel, 32, t.trial_words(), 0, t.output_words) + body + "ret;\n}\n";
          out.list.push_back(t);
        }
      }
  }
}

void add_all_wmma(Cases& out) {
  struct Shape {
    const char* name;
    int m, n, k;
  };
  for (const Shape& s : {Shape{"m16n16k16", 16, 16, 16}, Shape{"m32n8k16", 32, 8, 16}, Shape{"m8n32k16", 8, 32, 16}}) {
    add_wmma_shape(out, s.name, s.m, s.n, s.k, kF16, {{kF16, kF16}, {kF32, kF32}, {kF32, kF16}, {kF16, kF32}}, true, {""});
    add_wmma_shape(out, s.name, s.m, s.n, s.k, kBF16, {{kF32, kF32}}, true, {""});
    for (const Type& t : {kU8, kS8}) add_wmma_shape(out, s.name, s.m, s.n, s.k, t, {{kS32, kS32}}, true, {"", ".satfinite"});
  }
  add_wmma_shape(out, "m16n16k8", 16, 16, 8, kTF32, {{kF32, kF32}}, true, {""});
  add_wmma_shape(out, "m8n8k4", 8, 8, 4, kF64, {{kF64, kF64}}, true, {""});
  for (const Type& t : {kU4, kS4}) add_wmma_shape(out, "m8n8k32", 8, 8, 32, t, {{kS32, kS32}}, false, {"", ".satfinite"});
  add_wmma_shape(out, "m8n8k128", 8, 8, 128, kB1, {{kS32, kS32}}, false, {".xor.popc", ".and.popc"});
}

uint64_t descriptor(int leading, int stride, int swizzle) {
  return static_cast<uint64_t>(leading >> 4) << 16 | static_cast<uint64_t>(stride >> 4) << 32 | static_cast<uint64_t>(swizzle) << 62;
}

void add_all_wgmma(Cases& out) {
  const auto shape = [](int n, int k) { return "wgmma.mma_async.sync.aligned.m64n" + num(n) + "k" + num(k); };
  const auto one = [&](const Type& d, const Type& a, const Type& b, int n, const std::string& tail, uint64_t da, uint64_t db,
                       bool registers, bool scale, const std::string& note, const std::string& word = "") {
    const int k = 256 / a.bits;
    const bool same = a.bits == 1;
    const std::string types = std::string(".") + d.name + "." + a.name + "." + b.name;
    Fragment fd = fragment(d, 64 * n / 4);
    Fragment fa = registers ? Fragment{'r', 4, 0} : Fragment{};
    (void)same;
    out.add_wgmma(shape(n, k) + types + word, tail, fd, d.format, fa, a.format, b.format, da, db, scale, note);
  };
  const uint64_t plain = descriptor(128, 256, 0);
  // Arithmetic of every type.
  for (const auto& [d, a] : {std::pair{kF32, kF16}, std::pair{kF16, kF16}, std::pair{kF32, kBF16}}) {
    one(d, a, a, 8, "1, 1, 0, 0", plain, plain, false, true, "plain");
    one(d, a, a, 16, "1, 1, 0", plain, plain, true, true, "plain, A in registers");
  }
  one(kF32, kF16, kF16, 8, "-1, 1, 0, 0", plain, plain, false, true, "plain");
  one(kF32, kF16, kF16, 8, "1, -1, 0, 0", plain, plain, false, false, "plain, D not added");
  one(kF32, kTF32, kTF32, 8, "1, 1", plain, plain, false, true, "plain");
  one(kF32, kTF32, kTF32, 8, "-1, 1", plain, plain, true, true, "plain, A in registers");
  for (const Type& a : {kE4M3, kE5M2})
    for (const Type& b : {kE4M3, kE5M2}) {
      one(kF32, a, b, 8, "1, 1", plain, plain, false, true, "plain");
      one(kF16, a, b, 8, "1, 1", plain, plain, true, true, "plain, A in registers");
    }
  for (const Type& a : {kU8, kS8})
    for (const Type& b : {kU8, kS8}) one(kS32, a, b, 8, "", plain, plain, false, true, "plain");
  one(kS32, kS8, kS8, 24, "", plain, plain, true, true, "plain, saturating", ".satfinite");
  one(kS32, kB1, kB1, 8, "", plain, plain, false, true, "plain", ".and.popc");
  // Layouts: the two distances differ and neither follows from the other.
  for (int swizzle : {0, 1, 2, 3}) {
    const int stride = swizzle == 0 ? 288 : swizzle == 1 ? 1024 + 1024 : swizzle == 2 ? 512 + 512 : 256 + 256;
    const uint64_t k_major = descriptor(swizzle == 0 ? 2576 : 16, stride, swizzle);
    one(kF32, kF16, kF16, 16, "1, 1, 0, 0", k_major, k_major, false, true, "K-major, swizzle " + num(swizzle));
    one(kF32, kTF32, kTF32, 16, "1, 1", k_major, k_major, false, true, "K-major, swizzle " + num(swizzle));
    one(kS32, kS8, kS8, 16, "", k_major, k_major, false, true, "K-major, swizzle " + num(swizzle));
    const uint64_t shifted = k_major + (swizzle == 1 ? 6 : swizzle == 2 ? 2 : 0);
    if (swizzle == 1 || swizzle == 2)
      one(kF32, kF16, kF16, 16, "1, 1, 0, 0", shifted, shifted, false, true, "K-major, moved along K, swizzle " + num(swizzle));
    const uint64_t mn_major = swizzle == 0   ? descriptor(1152, 144, 0)
                              : swizzle == 1 ? descriptor(4096, 2048, 1)
                              : swizzle == 2 ? descriptor(2048, 1024, 2)
                                             : descriptor(2048, 512, 3);
    for (int n : {16, 64, 128}) {
      one(kF32, kF16, kF16, n, "1, 1, 1, 1", mn_major, mn_major, false, true, "MN-major, swizzle " + num(swizzle));
      if (n == 64) one(kF32, kBF16, kBF16, n, "1, 1, 0, 1", k_major, mn_major, false, true, "B MN-major, swizzle " + num(swizzle));
      if (n == 64) one(kF32, kBF16, kBF16, n, "1, 1, 1, 0", mn_major, k_major, false, true, "A MN-major, swizzle " + num(swizzle));
    }
  }
}

}  // namespace

int TensorCase::thread_words() const {
  int words = 0;
  for (const Region& r : inputs)
    if (!r.shared) words += r.words;
  return words;
}

int TensorCase::trial_words() const {
  int words = thread_words() * threads;
  for (const Region& r : inputs)
    if (r.shared) words += r.words;
  return words;
}

std::vector<uint32_t> TensorCase::input(int trial) const {
  std::vector<uint32_t> words(static_cast<size_t>(trial_words()));
  Random random(name, trial);
  size_t at = 0;
  for (int t = 0; t < threads; ++t)
    for (const Region& r : inputs) {
      if (r.shared) continue;
      fill(words, at, r.words, r.format, r.element_bits, random, trial);
      at += static_cast<size_t>(r.words);
    }
  for (const Region& r : inputs) {
    if (!r.shared) continue;
    fill(words, at, r.words, r.format, r.element_bits, random, trial);
    at += static_cast<size_t>(r.words);
  }
  return words;
}

std::vector<TensorCase> tensor_cases() {
  Cases cases;
  add_all_mma(cases);
  add_all_wmma(cases);
  add_all_wgmma(cases);
  return cases.list;
}

std::string tensor_module_header() { return ".version 8.7\n.target sm_90a\n.address_size 64\n"; }

uint64_t digest(const uint32_t* words, size_t count) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t k = 0; k < count; ++k) h = (h ^ words[k]) * 0x100000001b3u;
  return h;
}

}  // namespace warpbeam::tensor_test
