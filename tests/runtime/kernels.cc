#include "kernels.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "registration.h"

namespace kernels {

// Host shadows. Their bodies differ so that no linker folds them into one address.
static volatile int body;
void nothing() { body = 1; }
void store(int*, int) { body = 2; }
void add(int*, int, int) { body = 3; }
void count_up(int*) { body = 4; }
void wait_for_flag(volatile int*) { body = 5; }
void fault(int*) { body = 6; }
void stop() { body = 7; }
void at_most_64() { body = 8; }
void shared_static() { body = 9; }
void read_table(int*, int) { body = 10; }
int table[16];
int limit;

namespace {

constexpr std::string_view kPtx = R"(
.version 8.5
.target sm_50
.address_size 64

.visible .global .align 4 .u32 table[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
.visible .const .align 4 .u32 limit = 100;

.visible .entry nothing() { ret; }

.visible .entry store(.param .u64 to, .param .u32 value)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}

.visible .entry add(.param .u64 to, .param .u32 value, .param .u32 count)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<5>;
  .reg .b32 %r<9>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  ld.param.u32 %r2, [count];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r6, %r2;
  @%p1 bra done;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.s32 %rd3, %r6, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r7, [%rd4];
  add.s32 %r8, %r7, %r1;
  st.global.u32 [%rd4], %r8;
done:
  ret;
}

.visible .entry count_up(.param .u64 counter)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [counter];
  cvta.to.global.u64 %rd2, %rd1;
  atom.global.add.u32 %r1, [%rd2], 1;
  ret;
}

.visible .entry wait_for_flag(.param .u64 flag)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [flag];
  cvta.to.global.u64 %rd2, %rd1;
again:
  ld.volatile.global.u32 %r1, [%rd2];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}

.visible .entry fault(.param .u64 nowhere)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [nowhere];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], 1;
  ret;
}

.visible .entry stop() { trap; ret; }

.visible .entry at_most_64() .maxntid 64, 1, 1 { ret; }

.visible .entry shared_static()
{
  .shared .align 4 .b8 room[1024];
  .reg .b32 %r<3>;
  mov.u32 %r1, room;
  mov.u32 %r2, %tid.x;
  st.shared.u32 [%r1], %r2;
  ret;
}

.visible .entry read_table(.param .u64 to, .param .u32 index)
{
  .reg .b64 %rd<7>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [index];
  mov.u64 %rd2, table;
  mul.wide.s32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  ld.const.u32 %r3, [limit];
  add.s32 %r4, %r2, %r3;
  cvta.to.global.u64 %rd5, %rd1;
  st.global.u32 [%rd5], %r4;
  ret;
}
)";

const Registration registration(kPtx,
                                {
                                    {reinterpret_cast<const void*>(nothing), "nothing"},
                                    {reinterpret_cast<const void*>(store), "store"},
                                    {reinterpret_cast<const void*>(add), "add"},
                                    {reinterpret_cast<const void*>(count_up), "count_up"},
                                    {reinterpret_cast<const void*>(wait_for_flag), "wait_for_flag"},
                                    {reinterpret_cast<const void*>(fault), "fault"},
                                    {reinterpret_cast<const void*>(stop), "stop"},
                                    {reinterpret_cast<const void*>(at_most_64), "at_most_64"},
                                    {reinterpret_cast<const void*>(shared_static), "shared_static"},
                                    {reinterpret_cast<const void*>(read_table), "read_table"},
                                },
                                {{table, "table", sizeof table, false}, {&limit, "limit", sizeof limit, true}});

}  // namespace
}  // namespace kernels
