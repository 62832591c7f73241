"""The command `warpbeam`."""
import os
import sys

from . import executable


def main():
    program = executable()
    try:
        os.execv(program, ["warpbeam", *sys.argv[1:]])
    except OSError as wrong:
        sys.exit(f"warpbeam: {program} cannot be started: {wrong.strerror}")


if __name__ == "__main__":
    main()
