"""One virtual machine that runs one command on Debian's kernel."""

import os
import pathlib
import re
import shutil
import subprocess

import archive

HERE = pathlib.Path(__file__).resolve().parent
BUSYBOX = "/bin/busybox"
MEMORY_MB = 2048  # taken from the host as it is used
# As drivers/infiniband/core/cm.c has it, each ten seconds that a process waits for an id that it destroys.
WAITS_FOR_ID = re.compile(r"\[ *(\d+)\.\d+\] cm_destroy_id_wait_timeout: cm_id=(\w+) timed out")
LONGEST_WAIT = 240  # s; for a peer that does not answer it is a minute and a half


def lacking():
    """What this host lacks for a machine, or None."""
    if os.uname().machine != "x86_64":
        return "the machine is x86-64, and its emulation would be too slow elsewhere"
    for program in ["qemu-system-x86_64", BUSYBOX, "modprobe", "depmod", "cpio", "ip", "rdma"]:
        if not shutil.which(program, path=archive.search_path()):
            return f"{program} is not installed"
    return None


class Machine:
    """Prepared in a folder of its own, then started once."""

    def __init__(self, folder, kernel_folder, address, device, script, modules=()):
        """The machine gets the IPv4 address, a device of that type (which may need modules besides the kernel's), and runs
        the bash script with the host's files."""
        self.folder = folder
        self.kernel = kernel_folder
        self.process = None
        folder.mkdir()
        for said in ["console", "status"]:
            (folder / said).touch()  # QEMU may not have come to it when somebody looks
        self._pack(address, device, script, modules)

    def start(self, cpus=1, wire=None, share=None):
        """Boots with so many processors. `wire`: the peer's folder, for a network card; `share`: a folder to write to."""
        # At the end of its input QEMU would take the output's port for unplugged, so the input stays open.
        self.process = subprocess.Popen(
            self._command_line(cpus, wire, share), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def end(self):
        """Ends the process, if it still runs."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def exit_status(self):
        """The command's, once the process has ended; None when the machine broke before."""
        text = (self.folder / "status").read_text().strip()
        return int(text) if text.isdigit() else None

    def console(self):
        """What the kernel said."""
        return (self.folder / "console").read_text(errors="replace")

    def has_lost_an_id(self):
        """Whether the kernel waits for an id that nobody has: who destroys it never comes back, nor ends. It loses count
        of a connection's users once in some thousand withdrawn requests (seen of 6.1.192)."""
        first = {}
        for seconds, number in WAITS_FOR_ID.findall(self.console()):
            if int(seconds) - first.setdefault(number, int(seconds)) > LONGEST_WAIT:
                return True
        return False

    def _pack(self, address, device, script, modules):
        root = self.folder / "initramfs"
        (root / "bin").mkdir(parents=True)
        shutil.copy(BUSYBOX, root / "bin")
        shutil.copy(HERE / "guest_init", root / "init")
        shutil.copy(HERE / "guest_run", root)
        (root / "guest_address").write_text(address)
        (root / "guest_device").write_text(device)
        (root / "guest_command").write_text(script)
        shutil.copytree(self.kernel / "modules", root / "modules")
        for module in modules:
            shutil.copy(module, root / "modules" / f"last_{module.name}")
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        with open(self.folder / "initramfs.cpio", "wb") as archive:
            subprocess.run(["cpio", "--create", "--quiet", "--format=newc"], check=True, cwd=root,
                           input=names.encode(), stdout=archive)
        shutil.rmtree(root)

    def _command_line(self, cpus, wire, share):
        # A port for the output and one for the status: the serial console is the kernel's, and slow.
        command = [
            # A machine outlives nobody: not even one who was killed and could not end it.
            "setpriv", "--pdeathsig", "KILL", "--",
            "qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot",
            # /dev/kvm exists on machines where it hangs, so QEMU does not get to choose. Programs take the newest instructions
            # that a processor has, and those are the slowest to emulate.
            "-accel", "tcg,thread=multi", "-cpu", "qemu64", "-smp", str(cpus), "-m", str(MEMORY_MB),
            "-kernel", self.kernel / "image", "-initrd", self.folder / "initramfs.cpio",
            # Without a processor for a while QEMU's timer seems broken to a kernel that checks it.
            # Whether its ciphers are right is asked of it elsewhere, on faster machines.
            "-append", "console=ttyS0 quiet loglevel=4 panic=1 mitigations=off net.ifnames=0"
            " no_timer_check cryptomgr.notests",
            "-serial", f"file:{self.folder}/console",
            "-device", "virtio-serial-pci",
            "-chardev", "stdio,id=output", "-device", "virtserialport,chardev=output,nr=1",
            "-chardev", f"file,id=status,path={self.folder}/status",
            "-device", "virtserialport,chardev=status,nr=2",
            # Without remap the inodes of the host's file systems collide.
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
        ]
        if share:
            command += ["-virtfs", f"local,path={share},mount_tag=share,security_model=none"]
        if wire:
            command += [
                "-netdev", f"dgram,id=wire,local.type=unix,local.path={self.folder}/wire,"
                f"remote.type=unix,remote.path={wire}/wire",
                "-device", f"virtio-net-pci,netdev=wire,romfile=,mac={self._mac()}",
            ]
        return command

    def _mac(self):
        return f"52:54:00:00:00:0{self.folder.name}"
