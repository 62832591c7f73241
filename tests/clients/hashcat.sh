# Debian's hashcat: it compiles its kernels with libnvrtc.so and tests each before it uses it.
set -eu
command -v hashcat >/dev/null || { echo "needs the package hashcat"; exit 77; }
unset XDG_DATA_HOME XDG_CACHE_HOME
export HOME=$PWD  # where it keeps what it has compiled

# MD5, SHA-256 in the way for short words, Streebog with its tables, bcrypt with its state in shared memory.
for mode in 0 '1400 -O' 11700 3200; do
  hash=$(hashcat --example-hashes -m "${mode%% *}" | sed -nE 's/.*Example\.Hash\.+: *//p')
  # Of the password `hashcat` the last letter is searched for.
  LD_LIBRARY_PATH=$WARPBEAM_LIBRARIES hashcat -m $mode --force --backend-ignore-opencl -a 3 -n 1 -u 1 -T 32 --potfile-disable \
    "$hash" 'hashca?l' >log 2>&1 || { cat log; exit 1; }
  grep -q 'Status.*Cracked' log || { cat log; exit 1; }
done
