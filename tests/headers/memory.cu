// Loads and stores with a cache policy, for every type.
template <class T>
__device__ void copy(T* to, const T* from) {
  to[0] = __ldg(from);
  to[1] = __ldca(from);
  to[2] = __ldcg(from);
  to[3] = __ldcs(from);
  to[4] = __ldlu(from);
  to[5] = __ldcv(from);
  __stwb(to + 6, from[0]);
  __stcg(to + 7, from[0]);
  __stcs(to + 8, from[0]);
  __stwt(to + 9, from[0]);
}
#define KERNEL(name, T) \
  __global__ void name(T* to, const T* from) { copy(to, from); }
KERNEL(chars, char)
KERNEL(schars, signed char)
KERNEL(uchars, unsigned char)
KERNEL(shorts, short)
KERNEL(ushorts, unsigned short)
KERNEL(ints, int)
KERNEL(uints, unsigned)
KERNEL(longs, long)
KERNEL(ulongs, unsigned long)
KERNEL(longlongs, long long)
KERNEL(ulonglongs, unsigned long long)
KERNEL(floats, float)
KERNEL(doubles, double)
KERNEL(char2s, char2)
KERNEL(char4s, char4)
KERNEL(uchar2s, uchar2)
KERNEL(uchar4s, uchar4)
KERNEL(short2s, short2)
KERNEL(short4s, short4)
KERNEL(ushort2s, ushort2)
KERNEL(ushort4s, ushort4)
KERNEL(int2s, int2)
KERNEL(int4s, int4)
KERNEL(uint2s, uint2)
KERNEL(uint4s, uint4)
KERNEL(longlong2s, longlong2)
KERNEL(ulonglong2s, ulonglong2)
KERNEL(float2s, float2)
KERNEL(float4s, float4)
KERNEL(double2s, double2)
