"""Debian's own kernel, unpacked but not installed: what the virtual machine boots."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

# Loaded in this order, each after what it depends on. Without crc32_generic rxe's `link add` says
# ENOENT: it asks the kernel's crypto for "crc32" by name.
MODULES = [
    "virtio_pci", "virtio_console", "virtio_net", "9pnet_virtio", "9p", "overlay", "crc32_generic",
    "rdma_ucm", "ib_umad", "rdma_rxe", "veth", "af_packet", "sch_netem",
]


class Unavailable(Exception):
    """Why there is no kernel here, in words for the user."""


def find():
    """The folder of Debian's current kernel, fetched first if need be; else of one fetched before."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    folder = cache / "anyrdma" / "vm"
    with locked(folder / "lock"):
        pinned = pinned_package()
        if not pinned:
            return before(folder)
        target = folder / "_".join([*pinned, fingerprint()])
        if not target.exists():
            fetch(pinned[0], target)
            for old in folder.glob("linux-image-*"):
                if old != target:
                    shutil.rmtree(old)
        return target


def pinned_package():
    """Debian's current kernel: (linux-image-6.1.0-56-amd64, 6.1.192-2). None when apt knows none."""
    try:
        depends = output_of("apt-cache", "depends", "linux-image-amd64")
        package = re.search(r"Depends: (linux-image-\S+)", depends).group(1)
        policy = output_of("apt-cache", "policy", package)
        return package, re.search(r"Candidate: (\S+)", policy).group(1)
    except (OSError, subprocess.CalledProcessError, AttributeError):
        return None


def before(folder):
    kernels = sorted(folder.glob(f"linux-image-*_{fingerprint()}"))
    if not kernels:
        raise Unavailable("apt knows no linux-image-amd64 here; apt-get update may help")
    return kernels[-1]


def fetch(package, target):
    """Downloads a kernel package and leaves of it vmlinuz and modules/NNN_NAME.ko, to be loaded in order."""
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        work = pathlib.Path(work)
        try:
            output_of("apt-get", "download", package, cwd=work)
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"apt-get could not download {package}: {error.stderr.strip()}") from error
        output_of("dpkg", "-x", next(work.glob("*.deb")), work / "all")
        release = next(work.glob("all/lib/modules/*")).name
        output_of("depmod", "-b", work / "all", release)
        kernel = work / "kernel"
        (kernel / "modules").mkdir(parents=True)
        shutil.copy(work / "all/boot" / f"vmlinuz-{release}", kernel / "vmlinuz")
        for number, file in enumerate(load_order(work / "all", release)):
            shutil.copy(file, kernel / "modules" / f"{number:03}_{os.path.basename(file)}")
        kernel.rename(target)


def load_order(tree, release):
    files = []
    for module in MODULES:
        lines = output_of("modprobe", "-d", tree, "-S", release, "--show-depends", module)
        files += re.findall(r"^insmod (\S+)", lines, re.MULTILINE)
    return list(dict.fromkeys(files))


def fingerprint():
    return hashlib.sha256(" ".join(MODULES).encode()).hexdigest()[:8]


def output_of(*command, cwd=None):
    return subprocess.run(command, check=True, text=True, cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "PATH": search_path()}).stdout


def search_path():
    return os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"


@contextlib.contextmanager
def locked(path):
    """One process at a time: of two tests that start together, one fetches."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
