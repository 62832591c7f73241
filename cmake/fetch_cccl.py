"""Fetches CUB, Thrust and libcu++ (NVIDIA's CCCL), headers only, out of the wheel `cuda-cccl`, into a folder.

    fetch_cccl.py FOLDER

leaves FOLDER/include/{cub,cuda,nv,thrust}, where the driver looks (src/compiler/cccl.cc), or FOLDER as it was. Nothing is believed of
where the file comes from but its hash. pip's settings say which index to ask. Ends with 0 when the libraries are there.
"""

import configparser
import hashlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import urllib.parse
import urllib.request
import zipfile
from html.parser import HTMLParser

VERSION = "1.2.1"  # CCCL 3.6
WHEEL = f"cuda_cccl-{VERSION}-cp311-cp311-manylinux_2_26_x86_64.whl"
SHA256 = "c1b8293c1b9dedbc0b3877c1fbb8265db293c7945371791a3dc69ca99db4a541"
HEADERS = "cuda/cccl/headers/include/"
PATIENCE = 10  # seconds without a byte


def settings():
    """pip's settings without pip, which Debian's Python need not have."""
    found = {}
    home = pathlib.Path.home()
    config_home = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    for place in (pathlib.Path("/etc/pip.conf"), home / ".pip/pip.conf", config_home / "pip/pip.conf", os.environ.get("PIP_CONFIG_FILE", "")):
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read(place)
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        if parser.has_section("global"):
            found.update(parser["global"])
    for key in ("index-url", "find-links", "cert"):
        value = os.environ.get("PIP_" + key.replace("-", "_").upper())
        if value:
            found[key] = value
    return found


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def get(url, context):
    request = urllib.request.Request(url, headers={"User-Agent": "warpbeam", "Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.5"})
    with urllib.request.urlopen(request, timeout=PATIENCE, context=context) as answer:
        return answer.read(), answer.headers.get_content_type(), answer.geturl()


def from_index(config):
    import ssl

    context = ssl.create_default_context(cafile=config.get("cert") if os.path.isfile(config.get("cert", "")) else None)
    index = config.get("index-url", "https://pypi.org/simple").rstrip("/") + "/cuda-cccl/"
    page, kind, at = get(index, context)
    if kind.endswith("+json"):
        links = [file["url"] for file in json.loads(page)["files"]]
    else:
        reader = Links()
        reader.feed(page.decode())
        links = reader.found
    for link in links:
        url = urllib.parse.urljoin(at, link)
        if urllib.parse.urlsplit(url).path.endswith("/" + WHEEL):
            return get(url.split("#")[0], context)[0]
    raise OSError(f"{index} does not have {WHEEL}")


def from_folders(config):
    for place in config.get("find-links", "").split():
        file = pathlib.Path(place.removeprefix("file://")) / WHEEL
        if file.is_file():
            return file.read_bytes()
    return None


def unpack(wheel, folder):
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        new = pathlib.Path(place) / "new"
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            for name in archive.namelist():
                inside = name.removeprefix(HEADERS)
                if inside == name or name.endswith("/") or ".." in pathlib.PurePosixPath(inside).parts:
                    continue
                file = new / "include" / inside
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(name))
        (new / "wheel").write_text(f"{WHEEL} {SHA256}\n")
        for path in (new, *(p for p in new.rglob("*") if p.is_dir())):
            path.chmod(0o755)
        if folder.exists():
            shutil.move(folder, pathlib.Path(place) / "old")
        new.rename(folder)


def main():
    folder = pathlib.Path(sys.argv[1])
    wanted = f"{WHEEL} {SHA256}\n"
    try:
        if (folder / "wheel").read_text() == wanted and (folder / "include/cub/cub.cuh").exists():
            return 0
    except OSError:
        pass
    try:
        config = settings()
        wheel = from_folders(config) or from_index(config)
        if hashlib.sha256(wheel).hexdigest() != SHA256:
            raise OSError(f"{WHEEL} is not what it was: its hash is another one")
        unpack(wheel, folder)
    except Exception as wrong:  # no net, an index without it, a full disk: Debian's does then
        print(f"{type(wrong).__name__}: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
