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
  cp "$@" given/
  chmod -R a+rX given
}
clean_tarball() { # suite
  clean_root "$1"
  given "$tarball"
  inside "$1" 1234:1234 "! test -e /usr/bin/cc; timed unpacked tar xf /mnt/in/*.tar.gz; timed 'first program' ./$tree_name/bin/warpbeam run /mnt/in/vector_add.cu
    timed 'same again' ./$tree_name/bin/warpbeam run /mnt/in/vector_add.cu; du -sm $tree_name | sed 's/\t.*/ MB/; s/^/measured: installed /'
    ./$tree_name/bin/warpbeam run /mnt/in/hello.cu -lcublas -lcufft | grep '^sum 20$'
    ./$tree_name/bin/nvcc /mnt/in/hello.cu -lcublas -lcufft -o hello; ./hello; ./$tree_name/bin/nvidia-smi"
}
clean_deb() { # suite
  clean_root "$1"
  given "$deb"
  inside "$1" 0:0 "export DEBIAN_FRONTEND=noninteractive; apt-get update >/dev/null && apt-get install -y --no-install-recommends ca-certificates >/dev/null || { echo 'no packages can be fetched'; exit 77; }
    timed 'apt-get install' apt-get install -y --no-install-recommends /mnt/in/*.deb >apt.txt; grep ^measured apt.txt
    timed 'first program' warpbeam run /mnt/in/vector_add.cu; timed 'same again' warpbeam run /mnt/in/vector_add.cu
    su nobody -s /bin/sh -c 'cd /tmp; warpbeam run /mnt/in/hello.cu -lcublas -lcufft' | grep '^sum 20$'
    /usr/lib/warpbeam/bin/nvidia-smi -L; apt-get remove -y warpbeam >/dev/null; ! test -e /usr/lib/warpbeam; ! test -e /usr/bin/warpbeam"
}
old_glibc() { # suite whose glibc is too old: one sentence
  clean_root "$1"
  given "$tarball"
  inside "$1" 1234:1234 "tar xf /mnt/in/*.tar.gz
    for p in warpbeam nvidia-smi; do ! ./$tree_name/bin/\$p devices >said 2>&1; cat said; grep -q 'glibc is 2.31, and Warpbeam needs 2.34' said; grep -c . said | grep -qx 1; done"
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
  podman images --format '{{.Repository}} {{.Size}}' | sed -n 's/^localhost.warpbeam /measured: image of /p'
  podman run --rm warpbeam | grep -q 'NVIDIA-SMI'
  podman run --rm -v "$PWD":/work warpbeam sh -ec 'nvcc hello.cu -lcublas -lcufft -o hello; ./hello | grep "^sum 20$"; nvcc bad.cu -o bad; nvcc --version; ncu --set basic ./bad
    compute-sanitizer ./bad | grep "Invalid __global__ write"; nvprof ./hello; nsys profile --stats=true ./hello; warpbeam run hello.cu -lcublas -lcufft; ls /usr/local/cuda/include/cuda.h'
  podman images
}
