"""Software iWARP (siw) for a kernel of Debian's, which leaves the module out: made of that kernel's own source and headers."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import archive
import kernel

SOURCE = "drivers/infiniband/sw/siw"


def module(name, tree):
    """siw.ko for the kernel in `tree`, which is kernel.find(name); made if need be, once for each kernel."""
    target = tree / "siw.ko"
    with kernel.locked(tree.parent / "lock"):
        if not target.exists():
            try:
                make(archive.Suite(kernel.SUITES[name], tree.parent / "apt"), tree, target)
            except archive.Unavailable as reason:
                raise kernel.Unavailable(str(reason)) from reason
    return target


def make(suite, tree, target):
    image, version = re.fullmatch(r"(linux-image-[^_]+)_([^_]+)_\w+", tree.name).groups()
    headers = image.replace("image", "headers")
    source = "linux-source-" + re.search(r"\d+\.\d+", image).group()
    for package in (headers, source):
        if suite.version(package) != version:
            raise kernel.Unavailable(f"{package} is {suite.version(package)}, {image} {version}: neither fits the other")
    with tempfile.TemporaryDirectory(dir=tree.parent) as work:
        root = pathlib.Path(work) / "all"
        suite.unpack([headers, source, *suite.depends(headers, r"linux-\S+")], root)
        run("tar", "--directory", root, "--extract", "--file", next(root.glob("usr/src/linux-source-*.tar.*")), "--wildcards",
            f"*/{SOURCE}")
        build = root / "usr/src" / headers
        makefile = build / "Makefile"  # it includes another one, by the name that this has when it is installed
        makefile.write_text(makefile.read_text().replace("include /usr", f"include {root}/usr"))
        folder = next(root.glob(f"*/{SOURCE}"))
        run("make", "-C", build, f"M={folder}", "CONFIG_RDMA_SIW=m", "modules")
        run("strip", "--strip-debug", folder / "siw.ko")
        shutil.move(folder / "siw.ko", target)


def run(*command):
    try:
        archive.output_of(*command, environment={"LC_ALL": "C"})
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise kernel.Unavailable(f"siw could not be made: {os.path.basename(command[0])}: {said.strip()}") from error
