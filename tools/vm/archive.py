"""Debian's archive: the suite of this very system, or another one that its server has beside it."""

import os
import platform
import re
import subprocess
import time

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """Why there is no such package, in words for the user."""


class Suite:
    """Packages of one suite. Nothing of the system's own configuration is touched."""

    def __init__(self, name, folder):
        """By its own name, such as bookworm. Lists of another suite than this system's are kept in `folder`, and asked for anew
        once a day."""
        self.name = name
        self.environment = {}
        self.lists = "/var/lib/apt/lists"
        if name != own_suite():
            self.lists = folder / "lists"
            self._open(name, folder)

    def state(self):
        """Another one whenever apt may answer otherwise than before: it has read lists, or its settings were changed."""
        return [os.stat(path).st_mtime_ns for path in [self.lists, "/etc/apt", "/etc/apt/preferences.d"] if os.path.exists(path)]

    def depends(self, package, pattern, needed=True):
        """Names of packages that `package` depends on."""
        text = self._ask("apt-cache", "depends", package)
        found = re.findall(rf"Depends: ({pattern})$", text, re.MULTILINE)
        if needed and not found:
            raise Unavailable(f"apt knows no {package} of {self.name}; apt-get update may help")
        return found

    def version(self, package):
        found = re.search(r"Candidate: (\S+)", self._ask("apt-cache", "policy", package))
        if not found:
            raise Unavailable(f"apt knows no {package} of {self.name}; apt-get update may help")
        return found.group(1)

    def unpack(self, packages, tree):
        """Downloads them, and puts their files below `tree`."""
        tree.mkdir(parents=True)
        self._ask("apt-get", "download", *packages, cwd=tree)
        for file in tree.glob("*.deb"):
            output_of("dpkg", "-x", file, tree)
            file.unlink()

    def _open(self, name, folder):
        for part in ["lists/partial", "cache/archives/partial"]:
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text(f"deb [signed-by={KEYS}] {debian_server()} {name} main\n")
        (folder / "apt.conf").write_text(f"""
            Dir::State "{folder}"; Dir::State::lists "{folder}/lists"; Dir::State::status "{folder}/status";
            Dir::Cache "{folder}/cache"; Dir::Etc::sourcelist "{folder}/sources.list";
            Dir::Etc::sourceparts "-"; Acquire::Languages "none"; APT::Sandbox::User "root";
        """)
        self.environment = {"APT_CONFIG": str(folder / "apt.conf")}
        read = folder / "read"
        if not read.exists() or older_than_a_day(read):
            self._ask("apt-get", "update", "--error-on=any")
            read.touch()

    def _ask(self, *command, cwd=None):
        try:
            return output_of(*command, cwd=cwd, environment=self.environment)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            raise Unavailable(f"{' '.join(command[:3])}, of {self.name}, failed: {said.strip()}") from error


def own_suite():
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME")
    except OSError:
        return None


def debian_server():
    """Where this system's own release comes from."""
    for line in output_of("apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)").splitlines():
        origin, _, uri = line.partition(" ")
        if origin == "Debian" and "security" not in uri:
            return uri
    raise Unavailable("apt has no Debian archive here (apt-get indextargets)")


def older_than_a_day(path):
    return path.stat().st_mtime < time.time() - 24 * 3600


def output_of(*command, cwd=None, environment=None):
    return subprocess.run(
        command, check=True, text=True, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {}), "PATH": search_path()}).stdout


def search_path():
    return os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
