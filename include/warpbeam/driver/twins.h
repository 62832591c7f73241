// With per-thread default streams: the twins of those functions that cuda.h declares by the name of a version. The others
// are declared by the name that sources use, which names.h then makes the twin's.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
extern __typeof__(cuMemPrefetchAsync_v2) cuMemPrefetchAsync_v2_ptsz;
extern __typeof__(cuMemcpy2DAsync_v2) cuMemcpy2DAsync_v2_ptsz;
extern __typeof__(cuMemcpy2DUnaligned_v2) cuMemcpy2DUnaligned_v2_ptds;
extern __typeof__(cuMemcpy2D_v2) cuMemcpy2D_v2_ptds;
extern __typeof__(cuMemcpy3DAsync_v2) cuMemcpy3DAsync_v2_ptsz;
extern __typeof__(cuMemcpy3DBatchAsync_v2) cuMemcpy3DBatchAsync_v2_ptsz;
extern __typeof__(cuMemcpy3D_v2) cuMemcpy3D_v2_ptds;
extern __typeof__(cuMemcpyAtoA_v2) cuMemcpyAtoA_v2_ptds;
extern __typeof__(cuMemcpyAtoD_v2) cuMemcpyAtoD_v2_ptds;
extern __typeof__(cuMemcpyAtoHAsync_v2) cuMemcpyAtoHAsync_v2_ptsz;
extern __typeof__(cuMemcpyAtoH_v2) cuMemcpyAtoH_v2_ptds;
extern __typeof__(cuMemcpyBatchAsync_v2) cuMemcpyBatchAsync_v2_ptsz;
extern __typeof__(cuMemcpyDtoA_v2) cuMemcpyDtoA_v2_ptds;
extern __typeof__(cuMemcpyDtoDAsync_v2) cuMemcpyDtoDAsync_v2_ptsz;
extern __typeof__(cuMemcpyDtoD_v2) cuMemcpyDtoD_v2_ptds;
extern __typeof__(cuMemcpyDtoHAsync_v2) cuMemcpyDtoHAsync_v2_ptsz;
extern __typeof__(cuMemcpyDtoH_v2) cuMemcpyDtoH_v2_ptds;
extern __typeof__(cuMemcpyHtoAAsync_v2) cuMemcpyHtoAAsync_v2_ptsz;
extern __typeof__(cuMemcpyHtoA_v2) cuMemcpyHtoA_v2_ptds;
extern __typeof__(cuMemcpyHtoDAsync_v2) cuMemcpyHtoDAsync_v2_ptsz;
extern __typeof__(cuMemcpyHtoD_v2) cuMemcpyHtoD_v2_ptds;
extern __typeof__(cuMemsetD16_v2) cuMemsetD16_v2_ptds;
extern __typeof__(cuMemsetD2D16_v2) cuMemsetD2D16_v2_ptds;
extern __typeof__(cuMemsetD2D32_v2) cuMemsetD2D32_v2_ptds;
extern __typeof__(cuMemsetD2D8_v2) cuMemsetD2D8_v2_ptds;
extern __typeof__(cuMemsetD32_v2) cuMemsetD32_v2_ptds;
extern __typeof__(cuMemsetD8_v2) cuMemsetD8_v2_ptds;
extern __typeof__(cuStreamBatchMemOp_v2) cuStreamBatchMemOp_v2_ptsz;
extern __typeof__(cuStreamBeginCapture_v2) cuStreamBeginCapture_v2_ptsz;
extern __typeof__(cuStreamGetCaptureInfo_v3) cuStreamGetCaptureInfo_v3_ptsz;
extern __typeof__(cuStreamGetCtx_v2) cuStreamGetCtx_v2_ptsz;
extern __typeof__(cuStreamUpdateCaptureDependencies_v2) cuStreamUpdateCaptureDependencies_v2_ptsz;
extern __typeof__(cuStreamWaitValue32_v2) cuStreamWaitValue32_v2_ptsz;
extern __typeof__(cuStreamWaitValue64_v2) cuStreamWaitValue64_v2_ptsz;
extern __typeof__(cuStreamWriteValue32_v2) cuStreamWriteValue32_v2_ptsz;
extern __typeof__(cuStreamWriteValue64_v2) cuStreamWriteValue64_v2_ptsz;
#endif
