"""Debian's own kernels, unpacked but not installed: what the virtual machine boots."""

import contextlib
import fcntl
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import archive

# Loaded in this order, each after what it depends on. Without crc32_generic rxe's `link add` says
# ENOENT: it asks the kernel's crypto for "crc32" by name, as siw (iwarp.py) does for "crc32c".
MODULES = [
    "virtio_pci", "virtio_console", "virtio_net", "9pnet_virtio", "9p", "overlay", "crc32_generic",
    "ib_uverbs", "rdma_ucm", "ib_umad", "rdma_rxe", "crc32c_generic", "libcrc32c", "veth", "bonding", "af_packet", "sch_netem",
    "sch_prio", "cls_u32",
]
# 7.2 knows them without a module.
NOT_EVERYWHERE = ["crc32_generic", "crc32c_generic", "libcrc32c"]

# The note in a kernel's file that says where whoever loads it may begin: XEN_ELFNOTE_PHYS32_ENTRY. Sizes, type, name.
PVH_ENTRY = struct.pack("<III4s", 4, 8, 18, b"Xen")

# Whose kernel: of Debian 12, of its backports, of unstable.
SUITES = {"6.1": "bookworm", "6.12": "bookworm-backports", "unstable": "sid"}


class Unavailable(Exception):
    """Why there is no kernel here, in words for the user."""


def find(name):
    """The folder of a kernel of SUITES in its newest version, fetched first if need be; else of one fetched before."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    folder = cache / "anyrdma" / "vm" / name
    with locked(folder / "lock"):
        try:
            suite = archive.Suite(SUITES[name], folder / "apt")
            package, version = newest(suite, folder / "newest.json")
        except archive.Unavailable as reason:
            return before(folder, reason)
        target = folder / f"{package}_{version}_{fingerprint()}"
        if not target.exists():
            fetch(suite, package, target)
            for old in folder.glob("linux-image-*"):
                if old != target:
                    shutil.rmtree(old)
        return target


def newest(suite, memory):
    """The kernel's package and version. Apt takes a second to answer, so it is asked once for each state of its lists."""
    state = suite.state()
    with contextlib.suppress(OSError, ValueError, KeyError):
        known = json.loads(memory.read_text())
        if known["state"] == state:
            return known["package"], known["version"]
    package = suite.depends("linux-image-amd64", r"linux-image-\S+")[0]
    version = suite.version(package)
    memory.write_text(json.dumps({"state": state, "package": package, "version": version}))
    return package, version


def before(folder, reason):
    kernels = sorted(folder.glob(f"linux-image-*_{fingerprint()}"))
    if not kernels:
        raise Unavailable(str(reason))
    return kernels[-1]


def fetch(suite, package, target):
    """Downloads a kernel's packages and leaves of them the image and modules/NNN_NAME.ko, to be loaded in order."""
    # Of late the image is a package without files, which depends on those with the kernel, its modules, their lists.
    parts = suite.depends(package, r"linux-(?:binary|modules|base)-\d\S+", needed=False)
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        tree = pathlib.Path(work) / "all"
        try:
            suite.unpack(parts or [package], tree)
        except archive.Unavailable as error:
            raise Unavailable(str(error)) from error
        if not (tree / "lib").exists():
            (tree / "lib").symlink_to("usr/lib")
        release = next(tree.glob("lib/modules/*")).name
        archive.output_of("depmod", "-b", tree, release)
        kernel = pathlib.Path(work) / "kernel"
        (kernel / "modules").mkdir(parents=True)
        image = tree / "boot" / f"vmlinuz-{release}"
        image = image if image.exists() else tree / "lib/modules" / release / "vmlinuz"
        (kernel / "image").write_bytes(uncompressed(image.read_bytes()))
        for number, file in enumerate(load_order(tree, release)):
            name = os.path.basename(file).removesuffix(".xz")
            with (lzma.open if file.endswith(".xz") else open)(file, "rb") as module:
                (kernel / "modules" / f"{number:03}_{name}").write_bytes(module.read())
        kernel.rename(target)


def uncompressed(image):
    """The ELF file in a bzImage, as QEMU boots it, too: to unpack itself takes an emulated machine two seconds. As it is where
    it is packed otherwise than by xz, or begins otherwise than QEMU can (Documentation/arch/x86/boot.rst)."""
    sectors_of_setup = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    packed = image[(sectors_of_setup + 1) * 512 + offset:][:length]
    try:
        elf = lzma.LZMADecompressor().decompress(packed)
    except lzma.LZMAError:
        return image
    return elf if elf.startswith(b"\x7fELF") and PVH_ENTRY in elf else image


def load_order(tree, release):
    files = []
    for module in MODULES:
        try:
            lines = archive.output_of("modprobe", "-d", tree, "-S", release, "--show-depends", module)
        except subprocess.CalledProcessError:
            if module not in NOT_EVERYWHERE:
                raise
            continue
        files += re.findall(r"^insmod (\S+)", lines, re.MULTILINE)
    return list(dict.fromkeys(files))


def fingerprint():
    """Of what `fetch` leaves."""
    return hashlib.sha256(" ".join(["image", *MODULES]).encode()).hexdigest()[:8]


@contextlib.contextmanager
def locked(path):
    """One process at a time: of two tests that start together, one fetches."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
