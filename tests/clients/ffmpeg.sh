# Debian's ffmpeg: its CUDA filters load libcuda.so.1 and the PTX they carry. What they make is compared with what its other
# filters make.
set -eu
command -v ffmpeg >/dev/null || { echo "needs the package ffmpeg"; exit 77; }
pattern='testsrc=size=352x288:rate=10:duration=0.5'
on_gpu() { LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES ffmpeg -v error -nostdin -y -init_hw_device cuda=gpu -filter_hw_device gpu "$@"; }
on_cpu() { ffmpeg -v error -nostdin -y "$@"; }

# Nearest neighbours are the same ones; other filters differ in how they round.
for format in yuv420p nv12 p010le; do
  on_gpu -f lavfi -i "$pattern" -vf "format=$format,hwupload_cuda,scale_cuda=640:480:interp_algo=nearest,hwdownload,format=$format" -f rawvideo gpu.raw
  on_cpu -f lavfi -i "$pattern" -vf "format=$format,scale=640:480:flags=neighbor" -f rawvideo cpu.raw
  cmp gpu.raw cpu.raw
done

similar() { # size: of gpu.raw and cpu.raw, in dB
  ffmpeg -nostdin -f rawvideo -pix_fmt yuv420p -s "$1" -i gpu.raw -f rawvideo -pix_fmt yuv420p -s "$1" -i cpu.raw -lavfi psnr -f null - 2>&1 |
    sed -nE 's/.*average:inf.*/999/p; s/.*average:([0-9]+).*/\1/p'
}
for filter in bilinear bicubic; do
  on_gpu -f lavfi -i "$pattern" -vf "format=yuv420p,hwupload_cuda,scale_cuda=640:480:interp_algo=$filter,hwdownload,format=yuv420p" -f rawvideo gpu.raw
  on_cpu -f lavfi -i "$pattern" -vf "format=yuv420p,scale=640:480:flags=$filter" -f rawvideo cpu.raw
  (($(similar 640x480) >= 38))
done
on_gpu -f lavfi -i "$pattern" -vf 'format=yuv420p,hwupload_cuda,yadif_cuda,hwdownload,format=yuv420p' -f rawvideo gpu.raw
on_cpu -f lavfi -i "$pattern" -vf 'format=yuv420p,yadif' -f rawvideo cpu.raw
(($(similar 352x288) >= 60))
