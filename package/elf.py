"""What packages change in files of others (ELF, 64 bits, little endian) that patchelf cannot.

    elf.py older FILE   symbols of a newer glibc than 2.34 are asked for without a version: libwarpbeam_glibc.so has them where glibc does not
    elf.py own FILE     the file's functions call one another even where the program has functions of the same names
"""
import struct
import sys

OLDEST = (2, 34)  # of glibc
SHT_DYNAMIC, SHT_DYNSYM, SHT_VERNEED, SHT_VERSYM = 6, 11, 0x6FFFFFFE, 0x6FFFFFFF
DT_NULL, DT_FLAGS, DF_SYMBOLIC = 0, 30, 2


class File:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.data = bytearray(f.read())
        assert self.data[:6] == b"\x7fELF\x02\x01", path
        start, = struct.unpack_from("<Q", self.data, 0x28)
        size, count = struct.unpack_from("<HH", self.data, 0x3A)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, start + k * size) for k in range(count)]

    def section(self, kind):
        return next((s for s in self.sections if s[1] == kind), None)

    def text(self, table, offset):
        begin = self.sections[table][4] + offset
        return self.data[begin:self.data.index(0, begin)].decode()

    def save(self):
        with open(self.path, "wb") as f:
            f.write(self.data)


def number(version):
    """(2, 36) of "GLIBC_2.36"; nothing of other names."""
    if not version.startswith("GLIBC_2"):
        return None
    return tuple(int(part) for part in version[6:].split("."))


def needed_versions(file):
    """Place in the file, library, name, index of each version that the file asks for."""
    need = file.section(SHT_VERNEED)
    if not need:
        return
    at = need[4]
    while True:
        _, count, library, aux, following = struct.unpack_from("<HHIII", file.data, at)
        place = at + aux
        for _ in range(count):
            _, _, index, name, next_aux = struct.unpack_from("<IHHII", file.data, place)
            yield place, file.text(need[6], library), file.text(need[6], name), index & 0x7FFF
            place += next_aux
        if not following:
            return
        at += following


def newest_glibc(path):
    """The newest version of glibc that the file asks for."""
    return max((number(name) for _, _, name, _ in needed_versions(File(path)) if number(name)), default=(0,))


def older(path):
    """True when the file was changed."""
    file = File(path)
    versions = list(needed_versions(file))
    newer = [v for v in versions if number(v[2]) and number(v[2]) > OLDEST]
    if not newer:
        return False
    symbols, numbers = file.section(SHT_DYNSYM), file.section(SHT_VERSYM)
    for place, library, name, index in newer:
        # In its place stands a version that is asked of the same library anyway.
        other = next(v for v in versions if v[1] == library and number(v[2]) and number(v[2]) <= OLDEST)
        hash_, = struct.unpack_from("<I", file.data, other[0])
        text, = struct.unpack_from("<I", file.data, other[0] + 8)
        struct.pack_into("<I", file.data, place, hash_)
        struct.pack_into("<I", file.data, place + 8, text)
        for k in range(numbers[5] // 2):
            at = numbers[4] + 2 * k
            if struct.unpack_from("<H", file.data, at)[0] & 0x7FFF == index:
                symbol = file.text(symbols[6], struct.unpack_from("<I", file.data, symbols[4] + 24 * k)[0])
                if symbol not in ("arc4random",):
                    raise SystemExit(f"{path} asks for {symbol}, which glibc has since {name[6:]} only, and nothing else supplies")
                struct.pack_into("<H", file.data, at, 1)
    file.save()
    return True


def own(path):
    file = File(path)
    dynamic = file.section(SHT_DYNAMIC)
    for k in range(dynamic[5] // 16):
        at = dynamic[4] + 16 * k
        tag, value = struct.unpack_from("<QQ", file.data, at)
        if tag == DT_FLAGS:
            struct.pack_into("<Q", file.data, at + 8, value | DF_SYMBOLIC)
            break
        if tag == DT_NULL:  # the linker leaves some of these at the end
            following = struct.unpack_from("<Q", file.data, at + 16)[0] if 16 * (k + 1) < dynamic[5] else 1
            if following != DT_NULL:
                raise SystemExit(f"{path} has no room for a flag")
            struct.pack_into("<QQ", file.data, at, DT_FLAGS, DF_SYMBOLIC)
            break
    file.save()


if __name__ == "__main__":
    for name in sys.argv[2:]:
        {"older": older, "own": own}[sys.argv[1]](name)
