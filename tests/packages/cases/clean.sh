# Clean systems: debootstrap's, and a container on one.
# Sourced by ../installed.
clean_root() { # suite
  ((EUID)) && { echo 'only root makes clean systems'; return 77; }
  command -v debootstrap >/dev/null || { echo 'debootstrap is not installed'; return 77; }
  if [[ ! -e $roots/$1/.made ]]; then
    mkdir -p "$roots"
    rm -rf -- "${roots:?}/$1"
    debootstrap --variant=minbase "$1" "$roots/$1" >debootstrap.log 2>&1 || { tail -n 3 debootstrap.log; echo "debootstrap cannot make $1"; return 77; }
    : >"$roots/$1/.made"
  fi
  mkdir "$PWD/changes" "$PWD/aside" "$PWD/system"
}
inside() { # suite, user, command: in a copy of the system that forgets
  unshare -m -p -f bash -c '
    suite=$1 user=$2 roots=$3; shift 3
    mount -t tmpfs -o size=3g none aside && mkdir aside/changes aside/work &&
    mount -t overlay -o "lowerdir=$roots/$suite,upperdir=aside/changes,workdir=aside/work" none system || { echo "no overlay can be mounted"; exit 77; }
    mount -t proc none system/proc; mount --rbind /dev system/dev
    mkdir -p system/mnt/in system/home/u; mount --bind given system/mnt/in; chmod 777 system/home/u
    cp /etc/resolv.conf system/etc/resolv.conf 2>/dev/null
    export HOME=/home/u; unset XDG_CACHE_HOME TMPDIR WARPBEAM_BUILD
    exec chroot --userspec="$user" system /bin/bash -ec "cd /home/u; $1"' _ "$1" "$2" "$roots" "$3"
}
given() {
  mkdir -p given
  cp "$work/hello.cu" "$root/examples/vector_add.cu" given/
  (cd given && another_program && which_version)
  cp "$@" given/
  chmod -R a+rX given
}
clean_tarball() { # suite
  clean_root "$1"
  given "$tarball"
  inside "$1" 1234:1234 "test ! -e /usr/bin/cc
    timed unpacked tar xf /mnt/in/*.tar.gz; timed 'first program' ./$tree_name/bin/warpbeam run /mnt/in/vector_add.cu
    timed 'same again' ./$tree_name/bin/warpbeam run /mnt/in/vector_add.cu; timed 'another program' ./$tree_name/bin/warpbeam run /mnt/in/another.cu; du -sm $tree_name | sed 's/\t.*/ MB/; s/^/measured: installed /'
    ./$tree_name/bin/warpbeam run /mnt/in/hello.cu -lcublas -lcufft | grep '^sum 20$'
    ./$tree_name/bin/nvcc /mnt/in/hello.cu -lcublas -lcufft -o hello; ./hello; ./$tree_name/bin/nvidia-smi"
  within 20 unpacked 'first program'
  within 1 'same again'
  within 1 'another program'
}
can_fetch='export DEBIAN_FRONTEND=noninteractive
    apt-get update >/dev/null && apt-get install -y --no-install-recommends ca-certificates >/dev/null || { echo "no packages can be fetched"; exit 77; }'
clean_deb() { # suite
  clean_root "$1"
  given "$deb"
  # The same as an older version, with a header that this one has not.
  dpkg-deb -R "$deb" older
  sed -i 's/^Version: .*/Version: 0.0.9/' older/DEBIAN/control
  echo '#define GONE 1' >older/usr/lib/warpbeam/include/gone.h
  mkdir given/older
  dpkg-deb --root-owner-group -Znone --build older given/older/warpbeam_0.0.9_amd64.deb >/dev/null
  chmod -R a+rX given
  inside "$1" 0:0 "$can_fetch
    timed 'apt-get install' apt-get install -y --no-install-recommends /mnt/in/*.deb >apt.txt; grep ^measured apt.txt
    timed 'first program' warpbeam run /mnt/in/vector_add.cu; timed 'same again' warpbeam run /mnt/in/vector_add.cu
    timed 'another program' warpbeam run /mnt/in/another.cu
    su nobody -s /bin/sh -c 'cd /tmp; warpbeam run /mnt/in/hello.cu -lcublas -lcufft' | grep '^sum 20$'
    /usr/lib/warpbeam/bin/nvidia-smi -L
    removed() { apt-get remove -y warpbeam >/dev/null; for file in lib/warpbeam bin/warpbeam share/doc/warpbeam; do test ! -e /usr/\$file; done; }
    removed
    apt-get install -y --no-install-recommends /mnt/in/older/*.deb >/dev/null; warpbeam run /mnt/in/version.cu | grep '^gone 1$'
    apt-get install -y --no-install-recommends /mnt/in/*.deb >/dev/null; warpbeam run /mnt/in/version.cu | grep '^gone 0$'
    test ! -e /usr/lib/warpbeam/include/gone.h
    removed"
  within 1 'same again'
  within 1 'another program'
}
old_glibc() { # suite whose glibc is too old: one sentence of ours, and a refusal by pip and apt
  clean_root "$1"
  given "$tarball" "$wheel" "$deb"
  inside "$1" 1234:1234 "tar xf /mnt/in/*.tar.gz
    for p in warpbeam nvidia-smi; do ./$tree_name/bin/\$p devices >said 2>&1 && exit 1; cat said; grep -q 'glibc is 2.31, and Warpbeam needs 2.34' said; grep -c . said | grep -qx 1; done"
  rm -rf changes aside system
  mkdir changes aside system
  inside "$1" 0:0 "$can_fetch
    apt-get install -y --no-install-recommends /mnt/in/*.deb >said 2>&1 && exit 1; cat said; grep -q 'libc6 (>= 2.34)' said; test ! -e /usr/lib/warpbeam
    apt-get install -y --no-install-recommends python3-pip >/dev/null
    pip3 install --no-index /mnt/in/*.whl >said 2>&1 && exit 1; cat said; grep -q 'is not a supported wheel on this platform' said"
}

# Mesa draws with the LLVM that Debian has, and a kernel runs in the same process with ours, before and after.
beside_mesa() { # suite
  clean_root "$1"
  given "$tarball"
  cat >given/draw.cu <<'EOF'
#include <dlfcn.h>
#include <cstdio>
__global__ void brighter(unsigned char* x) { x[threadIdx.x + blockIdx.x * blockDim.x] += 100; }
void* mesa;
template <class F>
F* of(const char* name) {
  auto* found = reinterpret_cast<F*>(dlsym(mesa, name));
  if (!found) std::printf("no %s\n", name);
  return found;
}
int main() {
  mesa = dlopen("libOSMesa.so.8", RTLD_NOW | RTLD_GLOBAL);
  if (!mesa) return std::puts(dlerror()), 2;
  void* context = of<void*(unsigned, void*)>("OSMesaCreateContext")(0x1908 /* RGBA */, nullptr);
  unsigned char* picture;
  if (cudaMallocManaged(&picture, 64 * 64 * 4) != cudaSuccess) return 3;
  for (int round = 0; round < 2; ++round) {
    if (!of<unsigned char(void*, void*, unsigned, int, int)>("OSMesaMakeCurrent")(context, picture, 0x1401 /* bytes */, 64, 64)) return 4;
    if (round == 0) std::puts(of<const char*(unsigned)>("glGetString")(0x1F01 /* renderer */));
    of<void(float, float, float, float)>("glClearColor")(0, 0, 0, 0);
    of<void(unsigned)>("glClear")(0x4000);
    of<void(float, float, float)>("glColor3f")(1 / 255.f, 0, 0);
    of<void(unsigned)>("glBegin")(7 /* quads */);
    auto* vertex = of<void(float, float)>("glVertex2f");
    vertex(-1, -1), vertex(1, -1), vertex(1, 1), vertex(-1, 1);
    of<void()>("glEnd")();
    of<void()>("glFinish")();
    brighter<<<64, 256>>>(picture);
    if (cudaDeviceSynchronize() != cudaSuccess) return 5;
    const unsigned char* middle = picture + 4 * (64 * 32 + 32);
    std::printf("pixel %d %d\n", middle[0], middle[1]);
  }
}
EOF
  inside "$1" 0:0 "$can_fetch
    apt-get install -y --no-install-recommends libosmesa6 >/dev/null; tar xf /mnt/in/*.tar.gz
    GALLIUM_DRIVER=llvmpipe ./$tree_name/bin/warpbeam run --engine jit /mnt/in/draw.cu >said; cat said; grep llvmpipe said; grep -c '^pixel 101 100$' said | grep -qx 2"
}

# The newest GCC of the system has no C++: clang would take it, and find no <iostream>.
c_of_a_newer_gcc() { # suite
  clean_root "$1"
  given "$tarball"
  inside "$1" 0:0 "$can_fetch
    apt-get install -y --no-install-recommends libstdc++-13-dev libgcc-14-dev >/dev/null; tar xf /mnt/in/*.tar.gz
    ./$tree_name/bin/warpbeam run /mnt/in/hello.cu -lcublas -lcufft | grep '^sum 20$'; ./$tree_name/bin/nvcc /mnt/in/hello.cu -lcublas -lcufft -o hello; ./hello | grep '^sum 20$'"
}

# The Containerfile and README's commands with podman, on an image that debootstrap made; README's line is the test.
container() {
  clean_root bookworm
  local tool
  for tool in podman runc; do command -v "$tool" >/dev/null || { echo "$tool is not installed"; return 77; }; done
  mkdir -p image project
  cat >storage.conf <<EOF
[storage]
driver = "vfs"
graphroot = "$PWD/image/store"
runroot = "$PWD/image/run"
EOF
  cat >containers.conf <<'EOF'
[containers]
netns = "host"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
EOF
  export CONTAINERS_STORAGE_CONF=$PWD/storage.conf CONTAINERS_CONF=$PWD/containers.conf BUILDAH_ISOLATION=chroot
  tar -C "$roots/bookworm" --exclude=./.made -cf image/base.tar .
  podman import -q image/base.tar docker.io/library/debian:12-slim >podman.log 2>&1 || { tail -n 1 podman.log; echo 'podman makes no image here'; return 77; }
  podman run --rm docker.io/library/debian:12-slim true >podman.log 2>&1 || { tail -n 1 podman.log; return 77; }
  cp "$packages"/Containerfile "$tarball" project/
  cp "$root/examples/vector_add.cu" project/saxpy.cu
  cp "$work/hello.cu" "$work/bad.cu" project/
  chmod -R a+rwX project
  cd project
  local line
  line=$(sed -n 's/^\$ \(podman build .*\)/\1/p' "$root/README.md")
  [[ -n $line ]]
  timed 'podman build and README.s run' bash -ec "$line"
  podman run --rm -v "$PWD":/work warpbeam bash -c "$(declare -f timed); timed 'first program' warpbeam run saxpy.cu; timed 'same again' warpbeam run saxpy.cu"
  within 1 'same again'
  podman images --format '{{.Repository}} {{.Size}}' | sed -n 's/^localhost.warpbeam /measured: image of /p'
  podman run --rm warpbeam | grep -q 'NVIDIA-SMI'
  podman run --rm -v "$PWD":/work warpbeam sh -ec 'nvcc hello.cu -lcublas -lcufft -o hello; ./hello | grep "^sum 20$"; nvcc bad.cu -o bad; nvcc --version; ncu --set basic ./bad
    compute-sanitizer ./bad | grep "Invalid __global__ write"; nvprof ./hello; nsys profile --stats=true ./hello; warpbeam run hello.cu -lcublas -lcufft; ls /usr/local/cuda/include/cuda.h'
  podman images
}
