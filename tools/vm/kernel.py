"""Debian's own kernels, unpacked but not installed: what the virtual machine boots."""

import contextlib
import fcntl
import hashlib
import lzma
import os
import pathlib
import re
import shutil
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

# Whose kernel: of this very system, or of a suite that the system's archive has beside it.
SUITES = {"6.1": None, "6.12": "bookworm-backports", "unstable": "sid"}


class Unavailable(Exception):
    """Why there is no kernel here, in words for the user."""


def find(name):
    """The folder of a kernel of SUITES in its newest version, fetched first if need be; else of one fetched before."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    folder = cache / "anyrdma" / "vm" / name
    with locked(folder / "lock"):
        try:
            suite = archive.Suite(SUITES[name], folder / "apt")
            package = suite.depends("linux-image-amd64", r"linux-image-\S+")[0]
            version = suite.version(package)
        except archive.Unavailable as reason:
            return before(folder, reason)
        target = folder / f"{package}_{version}_{fingerprint()}"
        if not target.exists():
            fetch(suite, package, target)
            for old in folder.glob("linux-image-*"):
                if old != target:
                    shutil.rmtree(old)
        return target


def before(folder, reason):
    kernels = sorted(folder.glob(f"linux-image-*_{fingerprint()}"))
    if not kernels:
        raise Unavailable(str(reason))
    return kernels[-1]


def fetch(suite, package, target):
    """Downloads a kernel's packages and leaves of them vmlinuz and modules/NNN_NAME.ko, to be loaded in order."""
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
        shutil.copy(image if image.exists() else tree / "lib/modules" / release / "vmlinuz", kernel / "vmlinuz")
        for number, file in enumerate(load_order(tree, release)):
            name = os.path.basename(file).removesuffix(".xz")
            with (lzma.open if file.endswith(".xz") else open)(file, "rb") as module:
                (kernel / "modules" / f"{number:03}_{name}").write_bytes(module.read())
        kernel.rename(target)


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
    return hashlib.sha256(" ".join(MODULES).encode()).hexdigest()[:8]


@contextlib.contextmanager
def locked(path):
    """One process at a time: of two tests that start together, one fetches."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
