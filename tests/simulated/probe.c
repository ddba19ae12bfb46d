// Prints what a program can find out about the machine that it runs on, one fact a line: by
// instructions, clocks, and calls that ask for settings. The other parts of the probe are objects
// of the kernel (probe_objects.c) and files (probe_files.c).
#define _GNU_SOURCE
#include "tests/simulated/probe.h"

#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <linux/kcmp.h>
#include <locale.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

void print_bytes(const char* what, const unsigned char* bytes, long size) {
  printf("%s: %ld:", what, size);
  for (long i = 0; i < size; ++i) printf("%02x", bytes[i]);
  printf("\n");
}

void print_file(const char* path) {
  char text[65536];
  const int fd = open(path, O_RDONLY);
  printf("%s:", path);
  if (fd < 0) {
    printf(" %s\n", strerror(errno));
    return;
  }
  for (long size; (size = read(fd, text, sizeof text)) > 0;) {
    for (long i = 0; i < size; ++i)
      putchar(text[i] == '\n' || text[i] == '\0' ? '|' : (unsigned char)text[i]);
  }
  printf("\n");
  close(fd);
}

void print_link(const char* path) {
  char target[256] = "";
  const long size = readlink(path, target, sizeof target - 1);
  printf("%s -> %s\n", path, size < 0 ? strerror(errno) : target);
}

void print_directory(const char* path) {
  DIR* const directory = opendir(path);
  printf("%s lists", path);
  for (struct dirent* entry; directory != NULL && (entry = readdir(directory)) != NULL;)
    printf(" %s", entry->d_name);
  printf("\n");
  if (directory != NULL) closedir(directory);
}

void print_result(const char* what, long result) {
  printf("%s: %ld", what, result);
  if (result < 0) printf(" %s", strerror(errno));
  printf("\n");
}

// --- the processor ------------------------------------------------------------------------------

static sigjmp_buf faulted;

static void on_fault(int number) {
  siglongjmp(faulted, number);
}

/// An instruction that may not be there.
#define TRY(name, ...)                          \
  do {                                          \
    const int signal_ = sigsetjmp(faulted, 1);  \
    if (signal_ == 0) {                         \
      __VA_ARGS__;                              \
    } else {                                    \
      printf("%s: signal %d\n", name, signal_); \
    }                                           \
  } while (0)

/// Not LSL, SGDT and SIDT, which tell on which processor the program is (docs/limits.md).
static void processor(void) {
  unsigned a, b, c, d, cpu = 9, node = 9;
  uint64_t value = 0;
  for (const int* number = (const int[]){SIGSEGV, SIGILL, SIGBUS, 0}; *number != 0; ++number)
    signal(*number, on_fault);
  __cpuid(1, a, b, c, d);
  printf("APIC id %u\n", b >> 24);
  __cpuid_count(0xb, 0, a, b, c, d);
  printf("x2APIC id %u\n", d);
  for (unsigned leaf = 0; leaf <= __get_cpuid_max(0, NULL) && leaf < 0x20; ++leaf) {
    __cpuid_count(leaf, 0, a, b, c, d);
    printf("cpuid %x: %x %x %x %x\n", leaf, a, b, c, d);
  }
  TRY("rdpid", asm volatile("rdpid %0" : "=r"(value)); printf("rdpid: %lu\n", value));
  TRY("rdtsc", printf("rdtsc: %llu\n", __rdtsc()));
  TRY("rdtscp", value = __rdtscp(&cpu); printf("rdtscp: %lu aux %u\n", value, cpu));
  TRY("xgetbv", asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0)); printf("xgetbv: %x\n", a));
  TRY("xgetbv", asm volatile("xgetbv"
                             : "=a"(a), "=d"(d)
                             : "c"(1));
      printf("xgetbv, used: %x\n", a));
  TRY("rdpmc", asm volatile("rdpmc" : "=a"(a), "=d"(d) : "c"(0)); printf("rdpmc: %u\n", a));
  for (const int* number = (const int[]){SIGSEGV, SIGILL, SIGBUS, 0}; *number != 0; ++number)
    signal(*number, SIG_DFL);
  cpu = 9;
  syscall(SYS_getcpu, &cpu, &node, NULL);
  printf("getcpu %u %u, sched_getcpu %d\n", cpu, node, sched_getcpu());
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  printf("%d processors of %ld, %ld online\n", CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_CONF),
         sysconf(_SC_NPROCESSORS_ONLN));
}

// --- how the program was started ----------------------------------------------------------------

static void start(void) {
  const unsigned long* const random = (const unsigned long*)getauxval(AT_RANDOM);
  printf(
      "auxv: random %lx %lx, vdso %lx, page %lu, ticks %lu, secure %lu, execfn %s, platform %s\n",
      random[0], random[1], getauxval(AT_SYSINFO_EHDR), getauxval(AT_PAGESZ), getauxval(AT_CLKTCK),
      getauxval(AT_SECURE), (const char*)getauxval(AT_EXECFN), (const char*)getauxval(AT_PLATFORM));
  printf("auxv of rseq: %lu %lu\n", getauxval(27), getauxval(28));
  printf("auxv of the processor: %lx %lx %lu\n", getauxval(AT_HWCAP), getauxval(AT_HWCAP2),
         getauxval(AT_MINSIGSTKSZ));
  printf("code at %lx %lx %lx\n", (uintptr_t)print_file, getauxval(AT_BASE), getauxval(AT_PHDR));
  printf("addresses: stack %p, libc %lx, heap %p, break %p, map %p\n", (void*)&random,
         (uintptr_t)printf, malloc(10), sbrk(0),
         mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  printf("process %d %d %d %d %ld\n", getpid(), getppid(), getsid(0), getpgid(0),
         syscall(SYS_gettid));
  printf("user %u %u %u %u, groups %d\n", getuid(), geteuid(), getgid(), getegid(),
         getgroups(0, NULL));
  for (int fd = 0; fd < 3; ++fd) {
    const char* const terminal = ttyname(fd);
    printf("terminal %d: %s\n", fd, terminal == NULL ? strerror(errno) : terminal);
  }
  printf("host id %lx\n", gethostid());
  const char* const locale = setlocale(LC_ALL, "");
  printf("locale %s, %s\n", locale == NULL ? "none" : locale, nl_langinfo(CODESET));
  setlocale(LC_ALL, "C");
  tzset();
  printf("time zone %s %ld\n", tzname[0], timezone);
  printf("personality %x\n", (unsigned)personality(0xffffffff));
  printf("slack %d, dumpable %d, new privileges %d, parent's signal %d\n",
         prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), prctl(PR_GET_DUMPABLE, 0, 0, 0, 0),
         prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_CHILD_SUBREAPER, 0, 0, 0, 0));
  for (int i = 0; i < RLIMIT_NLIMITS; ++i) {
    struct rlimit limit = {0};
    struct rlimit old = {0};
    getrlimit(i, &limit);
    syscall(SYS_getrlimit, i, &old);
    printf("limit %d: %lx %lx, %lx %lx\n", i, limit.rlim_cur, limit.rlim_max, old.rlim_cur,
           old.rlim_max);
  }
}

// --- clocks -------------------------------------------------------------------------------------

static void clocks(void) {
  static const int kClocks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -6, -2, -14};
  for (size_t i = 0; i < sizeof kClocks / sizeof *kClocks; ++i) {
    struct timespec time = {0};
    struct timespec step = {0};
    const long result = syscall(SYS_clock_gettime, kClocks[i], &time);
    clock_getres(kClocks[i], &step);
    printf("clock %d: %ld, %ld.%09ld by %ld.%09ld\n", kClocks[i], result, (long)time.tv_sec,
           time.tv_nsec, (long)step.tv_sec, step.tv_nsec);
  }
  struct timex clock_state = {0};
  const int result = adjtimex(&clock_state);
  printf("adjtimex %d, %ld %ld %ld, tick %ld\n", result, clock_state.freq, clock_state.maxerror,
         clock_state.esterror, clock_state.tick);
  struct tms used;
  const long ticks = times(&used);
  printf("times %ld: %ld %ld %ld %ld, clock %ld\n", ticks, used.tms_utime, used.tms_stime,
         used.tms_cutime, used.tms_cstime, clock());
  for (int who = RUSAGE_CHILDREN; who <= RUSAGE_THREAD; ++who) {
    struct rusage usage;
    getrusage(who, &usage);
    printf("usage %d: %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", who, usage.ru_utime.tv_usec,
           usage.ru_stime.tv_usec, usage.ru_maxrss, usage.ru_minflt, usage.ru_majflt,
           usage.ru_inblock, usage.ru_oublock, usage.ru_nvcsw, usage.ru_nivcsw);
  }
  struct itimerval left = {0};
  for (int which = ITIMER_REAL; which <= ITIMER_PROF; ++which)
    print_result("getitimer", getitimer(which, &left));
}

// --- the scheduler ------------------------------------------------------------------------------

static void print_attributes(const char* what) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {0};
  print_result("sched_getattr", syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0));
  printf("%s: policy %u, nice %d, priority %u, slice %lu\n", what, attributes.policy,
         attributes.nice, attributes.priority, attributes.runtime);
}

static void scheduling(void) {
  struct timespec slice = {0};
  printf("policy %d, of %d to %d\n", sched_getscheduler(0), sched_get_priority_min(SCHED_FIFO),
         sched_get_priority_max(SCHED_FIFO));
  printf("nice %d %d %d\n", getpriority(PRIO_PROCESS, 0), getpriority(PRIO_PGRP, 0),
         getpriority(PRIO_USER, 0));
  print_attributes("at first");
  print_result("setpriority", setpriority(PRIO_PROCESS, 0, 3));
  printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
  print_attributes("nicer");
  print_file("/proc/self/stat");
  print_result("ioprio_get", syscall(SYS_ioprio_get, 1, 0));
  print_result("sched_rr_get_interval", sched_rr_get_interval(0, &slice));
}

// --- the kernel ---------------------------------------------------------------------------------

static void kernel(void) {
  struct utsname names;
  struct sysinfo info;
  char text[64] = "";
  uname(&names);
  printf("%s %s %s\n", names.nodename, names.release, names.version);
  sysinfo(&info);
  printf("up %ld, memory %lu %lu %lu %lu, swap %lu, processes %d, load %lu\n", info.uptime,
         info.totalram, info.freeram, info.sharedram, info.bufferram, info.totalswap, info.procs,
         info.loads[0]);
  printf("pages %ld %ld\n", sysconf(_SC_PHYS_PAGES), sysconf(_SC_AVPHYS_PAGES));
  printf("kcmp %ld\n", syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 0, 1));
  print_result("membarrier", syscall(SYS_membarrier, 0, 0, 0));
  print_result("klog", klogctl(3, text, sizeof text));
  print_result("klog size", klogctl(10, NULL, 0));
  print_result("add_key", syscall(SYS_add_key, "user", "probe", "x", 1, -2));
  print_result("keyctl", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
}

/// Calls that some kernels have, and others do not or not for everybody.
static void refused_calls(void) {
  static unsigned char zeros[256];
  print_result("perf_event_open", syscall(SYS_perf_event_open, zeros, 0, -1, -1, 0));
  print_result("userfaultfd", syscall(SYS_userfaultfd, 0));
  print_result("io_uring_setup", syscall(SYS_io_uring_setup, 4, zeros));
  print_result("bpf", syscall(SYS_bpf, 0, 0, 0));
  print_result("landlock", syscall(444, 0, 0, 1));
  print_result("io_setup", syscall(SYS_io_setup, 8, zeros));
  print_result("cachestat", syscall(451, 0, 0, 0, 0));
  print_result("futex_waitv", syscall(449, 0, 0, 0, 0, 0));
  print_result("name_to_handle_at",
               syscall(SYS_name_to_handle_at, AT_FDCWD, "/tmp", zeros, zeros + 128, 0));
  print_result("rseq", syscall(SYS_rseq, zeros, 32, 0, 0));
  print_result("fanotify_init", syscall(SYS_fanotify_init, 0, 0));
  print_result("ptrace", syscall(SYS_ptrace, 0xffff, 0, 0, 0));
  print_result("a call without a name", syscall(9999));
}

int main(void) {
  static char buffer[1 << 20];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  processor();
  start();
  clocks();
  kernel();
  refused_calls();
  random_numbers();
  objects();
  sockets();
  processes();
  files_of_machine();
  files_of_process();
  directories();
  states();
  ipc();
  scheduling();
  return 0;
}
