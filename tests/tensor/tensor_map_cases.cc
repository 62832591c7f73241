#include "tensor_map_cases.h"

namespace warpbeam::tensor_test {

std::vector<TensorMapCase> tensor_map_cases() {
  std::vector<TensorMapCase> list;
  const auto add = [&](std::string name, auto&& change) {
    TensorMapCase c;
    c.name = std::move(name);
    change(c);
    list.push_back(c);
  };
  const auto plane = [](TensorMapCase& c, int type, uint32_t w, uint32_t h, uint32_t bw, uint32_t bh) {
    c.type = type;
    c.dims[0] = w;
    c.dims[1] = h;
    c.strides[0] = (uint64_t{w} * static_cast<uint64_t>(map_element_bytes(type)) + 15) / 16 * 16;
    c.box[0] = bw;
    c.box[1] = bh;
  };
  add("1d", [](auto& c) {
    c.rank = 1;
    c.type = 1;
    c.dims[0] = 1000;
    c.box[0] = 64;
    c.at[0] = 40;
  });
  add("1d past the end", [](auto& c) {
    c.rank = 1;
    c.type = 1;
    c.dims[0] = 1000;
    c.box[0] = 64;
    c.at[0] = 968;
  });
  add("1d before the start", [](auto& c) {
    c.rank = 1;
    c.type = 7;
    c.dims[0] = 1000;
    c.box[0] = 64;
    c.at[0] = -8;
    c.fill = 1;
  });
  for (int type = 0; type <= 12; ++type)
    add("type " + std::to_string(type), [&](auto& c) {
      plane(c, type, 40, 40, 16, 8);
      c.at[0] = 16;
      c.at[1] = 4;
    });
  for (int type : {6, 7, 8, 9, 10, 11, 12})
    add("NaN outside, type " + std::to_string(type), [&](auto& c) {
      plane(c, type, 40, 40, 16, 8);
      c.at[0] = 32;
      c.at[1] = 37;
      c.fill = 1;
    });
  for (int swizzle = 0; swizzle <= 3; ++swizzle)
    for (int type : {0, 1, 2}) {
      const uint32_t inner = static_cast<uint32_t>((swizzle == 0 ? 64 : 16 << swizzle) / map_element_bytes(type));
      add("swizzle " + std::to_string(swizzle) + " type " + std::to_string(type), [&](auto& c) {
        plane(c, type, 256, 100, inner, 40);
        c.swizzle = swizzle;
        c.at[0] = 16;
        c.at[1] = 12;
      });
    }
  add("swizzle of a narrower row", [&](auto& c) {
    plane(c, 2, 256, 100, 16, 20);
    c.swizzle = 3;
    c.at[0] = 16;
    c.at[1] = 12;
  });
  add("swizzle partly outside", [&](auto& c) {
    plane(c, 2, 40, 30, 32, 20);
    c.swizzle = 3;
    c.at[0] = -8;
    c.at[1] = 21;
  });
  add("steps", [&](auto& c) {
    plane(c, 2, 200, 100, 32, 20);
    c.steps[0] = 1;
    c.steps[1] = 3;
    c.at[0] = 4;
    c.at[1] = 5;
  });
  add("steps inside rows", [&](auto& c) {
    plane(c, 2, 200, 100, 32, 20);
    c.steps[0] = 2;
    c.steps[1] = 1;
    c.at[0] = 4;
    c.at[1] = 5;
  });
  add("steps past the end", [&](auto& c) {
    plane(c, 2, 50, 30, 32, 20);
    c.steps[0] = 4;
    c.steps[1] = 7;
    c.at[0] = 28;
    c.at[1] = 21;
  });
  const auto solid = [](TensorMapCase& c, int rank) {
    c.rank = rank;
    c.type = 2;
    const uint64_t dims[] = {24, 10, 9, 7, 5};
    const uint32_t box[] = {8, 4, 3, 3, 2};
    uint64_t stride = 4;
    for (int k = 0; k < rank; ++k) {
      c.dims[k] = dims[k];
      c.box[k] = box[k];
      stride *= dims[k];
      if (k < 4) c.strides[k] = stride;
    }
  };
  for (int rank : {3, 4, 5}) {
    add(std::to_string(rank) + "d", [&](auto& c) {
      solid(c, rank);
      for (int k = 0; k < rank; ++k) c.at[k] = k ? k + 1 : 4;
    });
    add(std::to_string(rank) + "d outside on all sides", [&](auto& c) {
      solid(c, rank);
      for (int k = 0; k < rank; ++k) c.at[k] = k % 2 ? -1 : static_cast<int>(c.dims[k]) - (k ? 2 : 4);
    });
  }
  add("wholly outside", [&](auto& c) {
    plane(c, 2, 40, 30, 16, 8);
    c.at[0] = 400;
    c.at[1] = -100;
  });
  add("strides with gaps and a shifted base", [&](auto& c) {
    plane(c, 2, 40, 30, 16, 8);
    c.strides[0] = 1024;
    c.base = 4096 + 16;
    c.at[0] = 4;
    c.at[1] = 2;
  });
  const auto image = [](TensorMapCase& c, int rank) {
    c.rank = rank;
    c.type = 1;
    c.im2col = true;
    const uint64_t dims[] = {32, 9, 7, 5, 4};
    uint64_t stride = 2;
    for (int k = 0; k < rank; ++k) {
      c.dims[k] = k == rank - 1 ? 3 : dims[k];
      stride *= c.dims[k];
      if (k < 4) c.strides[k] = stride;
    }
    c.channels = 16;
    c.pixels = 24;
    for (int k = 0; k < rank - 2; ++k) {
      c.lower[k] = -1;
      c.upper[k] = -1;
    }
  };
  for (int rank : {3, 4, 5}) {
    add("im2col " + std::to_string(rank) + "d", [&](auto& c) { image(c, rank); });
    add("im2col moved " + std::to_string(rank) + "d", [&](auto& c) {
      image(c, rank);
      for (int k = 0; k < rank - 2; ++k) c.offsets[k] = 1 + k % 2;
      c.at[0] = 8;
      c.at[1] = 1;
    });
    add("im2col outside " + std::to_string(rank) + "d", [&](auto& c) {
      image(c, rank);
      c.at[1] = -1;
      for (int k = 2; k < rank - 1; ++k) c.at[k] = -1;
      c.at[rank - 1] = 1;
      c.pixels = 40;
    });
    add("im2col with steps " + std::to_string(rank) + "d", [&](auto& c) {
      image(c, rank);
      for (int k = 1; k < rank - 1; ++k) c.steps[k] = 2;
    });
    add("im2col swizzled " + std::to_string(rank) + "d", [&](auto& c) {
      image(c, rank);
      c.channels = 32;
      c.swizzle = 2;
      c.upper[0] = 0;
    });
  }
  add("store", [&](auto& c) {
    c.copy = MapCopy::Store;
    plane(c, 2, 40, 40, 16, 8);
    c.at[0] = 8;
    c.at[1] = 4;
  });
  add("store partly outside", [&](auto& c) {
    c.copy = MapCopy::Store;
    plane(c, 2, 40, 40, 16, 8);
    c.at[0] = 28;
    c.at[1] = -3;
  });
  add("store swizzled", [&](auto& c) {
    c.copy = MapCopy::Store;
    plane(c, 1, 80, 40, 64, 16);
    c.swizzle = 3;
    c.at[0] = 8;
    c.at[1] = 4;
  });
  add("store with steps", [&](auto& c) {
    c.copy = MapCopy::Store;
    plane(c, 2, 40, 40, 16, 8);
    c.steps[1] = 3;
    c.at[0] = 8;
    c.at[1] = 4;
  });
  add("reduce add", [&](auto& c) {
    c.copy = MapCopy::ReduceAdd;
    plane(c, 2, 40, 40, 16, 8);
    c.at[0] = 28;
    c.at[1] = 35;
  });
  add("reduce add f16", [&](auto& c) {
    c.copy = MapCopy::ReduceAdd;
    plane(c, 6, 40, 40, 16, 8);
    c.at[0] = 32;
    c.at[1] = 35;
  });
  add("reduce add bf16", [&](auto& c) {
    c.copy = MapCopy::ReduceAdd;
    plane(c, 9, 40, 40, 16, 8);
    c.at[0] = 32;
    c.at[1] = 35;
  });
  add("reduce add f32", [&](auto& c) {
    c.copy = MapCopy::ReduceAdd;
    plane(c, 7, 40, 40, 16, 8);
    c.at[0] = 28;
    c.at[1] = 35;
  });
  add("reduce min s32", [&](auto& c) {
    c.copy = MapCopy::ReduceMin;
    plane(c, 3, 40, 40, 16, 8);
    c.at[0] = 28;
    c.at[1] = 35;
  });
  add("reduce min f16", [&](auto& c) {
    c.copy = MapCopy::ReduceMin;
    plane(c, 6, 40, 40, 16, 8);
    c.at[0] = 8;
    c.at[1] = 5;
  });
  add("reduce xor", [&](auto& c) {
    c.copy = MapCopy::ReduceXor;
    plane(c, 2, 40, 40, 16, 8);
    c.at[0] = 4;
    c.at[1] = 5;
  });
  add("begins inside 16 bytes", [&](auto& c) {
    plane(c, 2, 40, 40, 16, 8);
    c.at[0] = 3;
  });
  return list;
}

std::string tensor_map_kernel(const TensorMapCase& c, const std::string& name) {
  const auto num = [](uint64_t n) { return std::to_string(n); };
  std::string s = ".visible .entry " + name + "(.param .align 64 .b8 map[128], .param .u64 out";
  for (int k = 0; k < 8; ++k) s += ", .param .s32 x" + num(static_cast<uint64_t>(k));
  s += ") .reqntid 32 {\n.reg .b32 %r<8>; .reg .b32 %x<8>; .reg .b16 %h<3>; .reg .b64 %a<8>; .reg .pred "
       "%p<3>;\n.shared .align 1024 .b8 tile[" +
       num(kMapSharedBytes) + "];\n.shared .align 8 .b64 bar;\n";
  for (int k = 0; k < 8; ++k) s += "ld.param.s32 %x" + num(static_cast<uint64_t>(k)) + ", [x" + num(static_cast<uint64_t>(k)) + "];\n";
  for (int k = 0; k < 3; ++k) s += "cvt.u16.u32 %h" + num(static_cast<uint64_t>(k)) + ", %x" + num(static_cast<uint64_t>(5 + k)) + ";\n";
  s += "ld.param.u64 %a1, [out]; mov.u64 %a0, map; cvta.param.u64 %a0, %a0; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; "
       "mov.u32 %r2, bar;\n";
  // The tile: a pattern to store, or a mark where a load writes nothing.
  s += "mov.u32 %r3, %r0; A: shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r1;\n";
  if (c.copy == MapCopy::Load) s += "mov.u32 %r5, 0xcdcdcdcd;\n";
  else
    s += "mul.lo.u32 %r5, %r3, 0x9e3779b9; shr.u32 %r6, %r5, 15; xor.b32 %r5, %r5, %r6; mul.lo.u32 %r5, %r5, "
         "0x85ebca6b;\n";
  s += "st.shared.b32 [%r4], %r5; add.u32 %r3, %r3, 32; setp.lt.u32 %p0, %r3, " + num(kMapSharedBytes / 4) + "; @%p0 bra A;\n";
  s += "setp.ne.u32 %p1, %r0, 0;\n@!%p1 mbarrier.init.shared.b64 [%r2], 1;\nfence.proxy.async; bar.sync 0;\n@%p1 bra "
       "B;\n";
  std::string coordinates = "{";
  for (int k = 0; k < c.rank; ++k) coordinates += (k ? ", %x" : "%x") + num(static_cast<uint64_t>(k));
  coordinates += "}";
  const std::string dim = num(static_cast<uint64_t>(c.rank)) + "d";
  if (c.copy == MapCopy::Load) {
    s += "mbarrier.arrive.expect_tx.shared.b64 %a2, [%r2], " + num(map_box_bytes(c)) + ";\n";
    std::string offsets;
    if (c.im2col) {
      offsets = ", {";
      for (int k = 0; k < c.rank - 2; ++k) offsets += (k ? ", %h" : "%h") + num(static_cast<uint64_t>(k));
      offsets += "}";
    }
    s += "cp.async.bulk.tensor." + dim + ".shared::cluster.global" + (c.im2col ? ".im2col" : ".tile") +
         ".mbarrier::complete_tx::bytes [%r1], [%a0, " + coordinates + "], [%r2]" + offsets + ";\n";
    s += "B: mov.u32 %r7, 0; C: mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; add.u32 %r7, %r7, 1; "
         "setp.gt.or.u32 %p2, %r7, 2000000, %p2; @!%p2 bra C;\n";
    s += "mov.u32 %r3, %r0; D: shl.b32 %r4, %r3, 2; add.u32 %r5, %r4, %r1; ld.shared.b32 %r6, [%r5]; cvt.u64.u32 %a3, "
         "%r4; add.u64 %a3, %a3, %a1; st.global.b32 [%a3], %r6;\n";
    s += "add.u32 %r3, %r3, 32; setp.lt.u32 %p0, %r3, " + num(kMapSharedBytes / 4) + "; @%p0 bra D;\nret;\n}\n";
  } else {
    const char* words = c.copy == MapCopy::ReduceAdd ? ".add" : c.copy == MapCopy::ReduceMin ? ".min" : ".xor";
    s += c.copy == MapCopy::Store ? "cp.async.bulk.tensor." + dim : "cp.reduce.async.bulk.tensor." + dim;
    s += ".global.shared::cta" + std::string(c.copy == MapCopy::Store ? "" : words) + ".tile.bulk_group [%a0, " + coordinates +
         "], [%r1];\n";
    s += "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nB: ret;\n}\n";
  }
  return s;
}

}  // namespace warpbeam::tensor_test
