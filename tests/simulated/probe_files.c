// What a program can find out about files: those of /proc and /sys about the machine and about a
// process, the order of directories, and what stat(2) says.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/simulated/probe.h"

static const char* const kOfMachine[] = {"/proc/cpuinfo",
                                         "/proc/meminfo",
                                         "/proc/vmstat",
                                         "/proc/stat",
                                         "/proc/loadavg",
                                         "/proc/uptime",
                                         "/proc/version",
                                         "/proc/cmdline",
                                         "/proc/filesystems",
                                         "/proc/locks",
                                         "/proc/interrupts",
                                         "/proc/softirqs",
                                         "/proc/schedstat",
                                         "/proc/timer_list",
                                         "/proc/partitions",
                                         "/proc/swaps",
                                         "/proc/diskstats",
                                         "/proc/modules",
                                         "/proc/keys",
                                         "/proc/buddyinfo",
                                         "/proc/zoneinfo",
                                         "/proc/pressure/cpu",
                                         "/proc/sys/fs/file-nr",
                                         "/proc/sys/fs/file-max",
                                         "/proc/sys/fs/inode-nr",
                                         "/proc/sys/fs/dentry-state",
                                         "/proc/sys/kernel/hostname",
                                         "/proc/sys/kernel/osrelease",
                                         "/proc/sys/kernel/version",
                                         "/proc/sys/kernel/ns_last_pid",
                                         "/proc/sys/kernel/pid_max",
                                         "/proc/sys/kernel/threads-max",
                                         "/proc/sysvipc/shm",
                                         "/proc/sysvipc/msg",
                                         "/proc/sysvipc/sem",
                                         "/proc/net/unix",
                                         "/proc/net/tcp",
                                         "/proc/net/udp",
                                         "/proc/net/raw",
                                         "/proc/net/packet",
                                         "/proc/net/netlink",
                                         "/proc/net/protocols",
                                         "/proc/net/sockstat",
                                         "/proc/net/softnet_stat",
                                         "/proc/net/dev",
                                         "/proc/net/snmp6",
                                         "/proc/net/arp",
                                         "/proc/net/route",
                                         "/proc/net/if_inet6",
                                         "/sys/devices/system/cpu/online",
                                         "/sys/devices/system/cpu/present",
                                         "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
                                         "/sys/devices/system/node/node0/meminfo",
                                         "/sys/class/net/lo/ifindex",
                                         "/sys/class/net/lo/address",
                                         "/sys/class/net/eth0/ifindex",
                                         "/sys/class/net/eth0/address",
                                         "/sys/class/net/eth0/mtu",
                                         "/sys/class/net/eth0/carrier_changes",
                                         "/sys/class/net/eth0/statistics/tx_bytes",
                                         "/sys/class/net/lo/statistics/rx_packets",
                                         "/etc/hosts",
                                         "/etc/hostname",
                                         "/etc/resolv.conf",
                                         NULL};

void files_of_machine(void) {
  for (const char* const* path = kOfMachine; *path != NULL; ++path) print_file(*path);
  for (const char* const* kind =
           (const char*[]){"pid", "net", "mnt", "ipc", "uts", "user", "cgroup", "time", NULL};
       *kind != NULL; ++kind) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", *kind);
    print_link(path);
  }
}

void files_of_process(void) {
  for (const char* const* name =
           (const char*[]){"stat",        "status",       "statm",         "io",
                           "schedstat",   "sched",        "cgroup",        "cpuset",
                           "autogroup",   "oom_score",    "oom_score_adj", "wchan",
                           "smaps",       "smaps_rollup", "limits",        "maps",
                           "numa_maps",   "timers",       "timerslack_ns", "syscall",
                           "stack",       "loginuid",     "sessionid",     "coredump_filter",
                           "personality", "comm",         "auxv",          "task/2/stat",
                           NULL};
       *name != NULL; ++name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/%s", *name);
    print_file(path);
  }
  print_link("/proc/self/exe");
  print_link("/proc/self/cwd");
}

// --- directories --------------------------------------------------------------------------------

/// Where telldir(3) says that the entries are.
static void print_positions(const char* path) {
  DIR* const directory = opendir(path);
  printf("%s has", path);
  for (struct dirent* entry; directory != NULL && (entry = readdir(directory)) != NULL;)
    printf(" %lx", (unsigned long)entry->d_off);
  printf("\n");
  if (directory != NULL) closedir(directory);
}

void directories(void) {
  struct statfs system;
  struct stat about;
  statfs("/", &system);
  printf("disk %lu %lu %lu %d\n", system.f_blocks * (unsigned long)system.f_bsize,
         system.f_bavail * (unsigned long)system.f_bsize, system.f_ffree, system.f_fsid.__val[0]);
  statfs("/tmp", &system);
  printf("/tmp %lu %lu %lx\n", system.f_blocks, system.f_bavail, (unsigned long)system.f_type);
  statfs("/dev/shm", &system);
  printf("/dev/shm %lu %lu\n", system.f_blocks, system.f_bavail);
  mkdir("/tmp/probe", 0700);
  for (int i = 0; i < 20; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/probe/%d", i * 7 % 20);
    const int fd = open(path, O_CREAT | O_RDWR, 0600);
    if (fstat(fd, &about) == 0) printf("file %lu\n", about.st_ino);
    close(fd);
  }
  print_directory("/tmp/probe");
  print_positions("/tmp/probe");
  // Where a host has no /tmp of its own, nothing remains on the machine.
  for (int i = 0; i < 20; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/probe/%d", i);
    unlink(path);
  }
  rmdir("/tmp/probe");
  for (const char* const* path =
           (const char*[]){"/dev", "/etc", "/usr", "/usr/bin", "/proc/self", "/proc/self/fd",
                           "/sys", "/sys/class/net", "/sys/devices/system/cpu/cpu0", NULL};
       *path != NULL; ++path)
    print_directory(*path);
}

// --- what stat(2) says --------------------------------------------------------------------------

static void print_time(const char* what, struct timespec time) {
  printf(", %s %ld.%09ld", what, (long)time.tv_sec, time.tv_nsec);
}

/// Without the number of a new file on a disk.
static void print_state(const char* what, int fd) {
  struct stat about = {0};
  struct statx more = {0};
  if (fd < 0 || fstat(fd, &about) != 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) != 0) {
    printf("%s: %s\n", what, strerror(errno));
    return;
  }
  const int is_new = major(about.st_dev) != 0 && about.st_nlink == 0;
  printf("%s: device %u:%u, inode %lu, links %lu, blocks %ld", what, major(about.st_dev),
         minor(about.st_dev), is_new ? 0 : about.st_ino, about.st_nlink, about.st_blocks);
  print_time("access", about.st_atim);
  print_time("modification", about.st_mtim);
  print_time("change", about.st_ctim);
  // File systems without a disk may know no birth; which do, the kernel decides.
  printf(", born %d, same %d\n", more.stx_btime.tv_sec <= about.st_ctim.tv_sec,
         more.stx_ino == about.st_ino && more.stx_dev_minor == minor(about.st_dev));
}

static void print_state_of(const char* path) {
  const int fd = open(path, O_RDONLY);
  print_state(path, fd);
  if (fd >= 0) close(fd);
}

static void print_change(const char* what, int fd) {
  print_state(what, fd);
  poll(NULL, 0, 2000);
  if (write(fd, "text", 4) == 4) print_state("it, changed", fd);
}

void states(void) {
  int pipes[2];
  unsigned char present[4] = {0};
  if (pipe(pipes) == 0) print_change("pipe", pipes[1]);
  print_state("event", eventfd(0, 0));
  print_state("socket", socket(AF_INET, SOCK_DGRAM, 0));
  print_change("memory", memfd_create("probe", 0));
  print_change("file of a disk", open(".", O_TMPFILE | O_RDWR, 0600));
  print_change("file in /tmp", open("/tmp/probe-state", O_CREAT | O_RDWR, 0600));
  unlink("/tmp/probe-state");
  for (const char* const* path =
           (const char*[]){"/tmp", "/dev/shm", "/run", "/etc/hosts", "/proc", "/proc/self",
                           "/proc/self/status", "/proc/meminfo", "/proc/self/ns/net", "/dev/null",
                           "/etc/passwd", NULL};
       *path != NULL; ++path)
    print_state_of(*path);
  void* const pages = mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED && mincore(pages, 4 * 4096, present) == 0)
    print_bytes("in memory", present, 4);
  const int program = open("/proc/self/exe", O_RDONLY);
  void* const code = mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE, program, 0);
  if (code != MAP_FAILED && mincore(code, 4 * 4096, present) == 0)
    print_bytes("of a file, in memory", present, 4);
}
