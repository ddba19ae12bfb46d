// Prints what a program can find out about the machine that it runs on, one fact a line.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_bytes(const char* what, const unsigned char* bytes, long size) {
  printf("%s: %ld:", what, size);
  for (long i = 0; i < size; ++i) printf("%02x", bytes[i]);
  printf("\n");
}

static void print_file(const char* path) {
  char text[65536];
  const int fd = open(path, O_RDONLY);
  printf("%s:", path);
  if (fd < 0) {
    printf(" %s\n", strerror(errno));
    return;
  }
  for (long size; (size = read(fd, text, sizeof text)) > 0;) {
    for (long i = 0; i < size; ++i) putchar(text[i] == '\n' ? '|' : text[i]);
  }
  printf("\n");
  close(fd);
}

static void print_link(const char* path) {
  char target[256] = "";
  const long size = readlink(path, target, sizeof target - 1);
  printf("%s -> %s\n", path, size < 0 ? strerror(errno) : target);
}

static void print_directory(const char* path) {
  DIR* const directory = opendir(path);
  printf("%s lists", path);
  for (struct dirent* entry; directory != NULL && (entry = readdir(directory)) != NULL;)
    printf(" %s", entry->d_name);
  printf("\n");
  if (directory != NULL) closedir(directory);
}

// --- the processor ------------------------------------------------------------------------------

static int has_rdpid(void) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 22 & 1) != 0;
}

static void processor(void) {
  unsigned a, b, c, d, cpu = 9, node = 9;
  __cpuid(1, a, b, c, d);
  printf("APIC id %u\n", b >> 24);
  __cpuid_count(0xb, 0, a, b, c, d);
  printf("x2APIC id %u\n", d);
  if (has_rdpid()) {
    uint64_t id;
    asm volatile("rdpid %0" : "=r"(id));
    printf("rdpid %lu\n", id);
  }
  syscall(SYS_getcpu, &cpu, &node, NULL);
  printf("getcpu %u %u, sched_getcpu %d\n", cpu, node, sched_getcpu());
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  printf("%d processors of %ld\n", CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_CONF));
}

// --- the kernel ---------------------------------------------------------------------------------

static void kernel(void) {
  struct utsname names;
  struct sysinfo info;
  struct timex clock = {0};
  uname(&names);
  printf("%s %s %s\n", names.nodename, names.release, names.version);
  sysinfo(&info);
  printf("memory %lu %lu, processes %d, load %lu\n", info.totalram, info.freeram, info.procs,
         info.loads[0]);
  printf("adjtimex %d\n", adjtimex(&clock));
  printf("kcmp %ld\n", syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 0, 1));
  print_file("/proc/sys/kernel/hostname");
  print_file("/proc/sys/fs/file-nr");
  print_file("/proc/locks");
  print_file("/proc/meminfo");
  print_file("/proc/loadavg");
  print_directory("/sys/class/net");
  for (const char* const* kind = (const char*[]){"pid", "net", "mnt", "ipc", "uts", "user", NULL};
       *kind != NULL; ++kind) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", *kind);
    print_link(path);
  }
}

static void random_numbers(void) {
  unsigned char bytes[8] = {0};
  int pipes[2];
  const int fd = open("/dev/urandom", O_RDONLY);
  print_bytes("read", bytes, read(fd, bytes, sizeof bytes));
  print_bytes("pread", bytes, pread(fd, bytes, sizeof bytes, 0));
  if (pipe(pipes) != 0) return;
  const long moved = splice(fd, NULL, pipes[1], NULL, sizeof bytes, 0);
  print_bytes("splice", bytes, moved > 0 ? read(pipes[0], bytes, sizeof bytes) : moved);
  print_file("/proc/sys/kernel/random/uuid");
  print_file("/proc/sys/kernel/random/boot_id");
  print_file("/proc/sys/kernel/random/entropy_avail");
}

// --- objects ------------------------------------------------------------------------------------

static void print_descriptor(const char* what, int fd) {
  char path[64];
  printf("%s\n", what);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  print_link(path);
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  print_file(path);
}

static void objects(void) {
  int pipes[2];
  uint64_t cookie = 0;
  int cpu = 9;
  socklen_t size = sizeof cookie;
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  printf("ids %d %d %d\n", shmget(IPC_PRIVATE, 4096, 0600), msgget(IPC_PRIVATE, 0600),
         semget(IPC_PRIVATE, 1, 0600));
  if (pipe(pipes) == 0) print_descriptor("pipe", pipes[0]);
  print_descriptor("event", eventfd(0, 0));
  const int stream = socket(AF_INET, SOCK_STREAM, 0);
  print_descriptor("stream", stream);
  printf("cookie %d", getsockopt(stream, SOL_SOCKET, SO_COOKIE, &cookie, &size));
  size = sizeof cpu;
  printf(" %lu, processor %d", cookie,
         getsockopt(stream, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &size));
  printf(" %d\n", cpu);
  for (int i = 0; i < 2; ++i) {
    const int nameless = socket(AF_UNIX, SOCK_DGRAM, 0);
    printf("bind %d", bind(nameless, (struct sockaddr*)&name, sizeof name.sun_family));
    struct sockaddr_un bound = {0};
    size = sizeof bound;
    getsockname(nameless, (struct sockaddr*)&bound, &size);
    printf(" to %s of %u bytes\n", bound.sun_path + 1, size);
  }
  print_file("/proc/net/unix");
  print_file("/proc/net/tcp");
  print_file("/proc/net/sockstat");
}

static void print_usage(const char* what, const struct rusage* usage) {
  printf("%s used %ld %ld %ld %ld %ld %ld\n", what, usage->ru_utime.tv_usec,
         usage->ru_stime.tv_usec, usage->ru_maxrss, usage->ru_minflt, usage->ru_nvcsw,
         usage->ru_nivcsw);
}

static void work(void) {
  volatile unsigned long sum = 0;
  for (unsigned long i = 0; i < 3000000; ++i) sum += i;
}

static void processes(void) {
  struct rusage usage = {0};
  siginfo_t info = {0};
  int status = 0;
  pid_t child = fork();
  if (child == 0) work(), _exit(3);
  syscall(SYS_waitid, P_PID, child, &info, WEXITED, &usage);
  print_usage("waitid", &usage);
  child = fork();
  if (child == 0) work(), _exit(4);
  wait4(child, &status, 0, &usage);
  print_usage("wait4", &usage);
  for (const char* const* name =
           (const char*[]){"stat", "status", "statm", "io", "schedstat", "sched", "cgroup",
                           "cpuset", "autogroup", "oom_score", "wchan", "smaps_rollup", "limits",
                           "maps", NULL};
       *name != NULL; ++name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/%s", *name);
    print_file(path);
  }
}

static void files(void) {
  struct statfs system;
  struct stat about;
  statfs("/", &system);
  printf("disk %lu %lu %lu %d\n", system.f_blocks * (unsigned long)system.f_bsize,
         system.f_bavail * (unsigned long)system.f_bsize, system.f_ffree, system.f_fsid.__val[0]);
  statfs("/tmp", &system);
  printf("/tmp %lu %lu\n", system.f_blocks, system.f_bavail);
  mkdir("/tmp/probe", 0700);
  for (int i = 0; i < 20; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/probe/%d", i * 7 % 20);
    const int fd = open(path, O_CREAT | O_RDWR, 0600);
    if (fstat(fd, &about) == 0) printf("file %lu\n", about.st_ino);
    close(fd);
  }
  print_directory("/tmp/probe");
  // Where a host has no /tmp of its own, nothing remains on the machine.
  for (int i = 0; i < 20; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/probe/%d", i);
    unlink(path);
  }
  rmdir("/tmp/probe");
}

// --- what stat(2) says
// ----------------------------------------------------------------------------

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

static void states(void) {
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
}

int main(void) {
  static char buffer[1 << 20];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  processor();
  kernel();
  random_numbers();
  objects();
  processes();
  files();
  states();
  return 0;
}
