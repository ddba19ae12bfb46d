// Prints what a program sees of the processors, the memory and the kernel of its host, a fact a
// line.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

static void print_line_of(const char* path, const char* begin) {
  char line[4096];
  FILE* const file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, begin, strlen(begin)) == 0) printf("%s", line);
  }
  if (file != NULL) fclose(file);
}

static int count_lines_of(const char* path, const char* begin) {
  char line[4096];
  int count = 0;
  FILE* const file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    count += strncmp(line, begin, strlen(begin)) == 0;
  if (file != NULL) fclose(file);
  return count;
}

static int count_directories(void) {
  int count = 0;
  DIR* const directory = opendir("/sys/devices/system/cpu");
  for (struct dirent* entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
    unsigned number;
    char rest;
    count += entry->d_type == DT_DIR && sscanf(entry->d_name, "cpu%u%c", &number, &rest) == 1;
  }
  if (directory != NULL) closedir(directory);
  return count;
}

/// Of either version: the machine has one of them, or none.
static void print_group(void) {
  const char* const files[] = {"/sys/fs/cgroup/cpuset/cpuset.cpus",
                               "/sys/fs/cgroup/cpuset.cpus.effective"};
  for (int i = 0; i < 2; ++i) {
    char line[64];
    FILE* const file = fopen(files[i], "r");
    if (file != NULL && fgets(line, sizeof line, file) != NULL) printf("group: %s", line);
    if (file != NULL) fclose(file);
  }
}

// --- affinity -----------------------------------------------------------------------------------

static const char* set_only(pid_t who, unsigned processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(who, sizeof set, &set) == 0 ? "done" : strerror(errno);
}

static void print_affinity(const char* whose) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  unsigned first = 0;
  while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &set)) ++first;
  printf("%s: %d processors from %u\n", whose, CPU_COUNT(&set), first);
}

// Where the thread is, as the kernel says and as the processor says.
static void print_place(void) {
  unsigned of_counter = 0;
  unsigned a, b, c, d;
  (void)__rdtscp(&of_counter);
  __cpuid(1, a, b, c, d);
  printf("on %d, by RDTSCP %u, by CPUID %u, ", sched_getcpu(), of_counter & 0xfff, b >> 24);
  char text[1024] = "";
  FILE* const file = fopen("/proc/thread-self/stat", "r");
  if (file != NULL && fgets(text, sizeof text, file) == NULL) text[0] = 0;
  if (file != NULL) fclose(file);
  const char* at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 39; ++field) at = strchr(at + 1, ' ');
  printf("by its stat %d\n", at == NULL ? -1 : atoi(at));
}

static void* in_thread(void* unused) {
  (void)unused;
  print_affinity("its thread");
  printf("its thread sets 0: %s\n", set_only(0, 0));
  print_affinity("its thread then");
  return NULL;
}

static void affinity(unsigned last) {
  char small;
  pthread_t thread;
  print_affinity("at first");
  printf("set %u: %s\n", last + 1, set_only(0, last + 1));
  printf("set of no thread: %s\n", set_only(30000, 0));
  printf("set nothing: %ld\n", syscall(SYS_sched_setaffinity, 0, 0L, NULL));
  printf("get into 1 byte: %ld\n", syscall(SYS_sched_getaffinity, 0, 1L, &small));
  printf("set %u: %s\n", last, set_only(0, last));
  print_affinity("then");
  print_line_of("/proc/self/status", "Cpus_allowed_list:");
  print_place();
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  print_affinity("after its thread");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    print_affinity("its child");
    printf("its child sets 0 for its parent: %s\n", set_only(getppid(), 0));
    exit(0);
  }
  waitpid(child, NULL, 0);
  print_affinity("after its child");
}

// --- all ----------------------------------------------------------------------------------------

static void identity(void) {
  unsigned a, b, c, d;
  __cpuid(1, a, b, c, d);
  printf("CPUID: %u\n", b >> 16 & 0xff);
}

int main(void) {
  struct utsname names;
  struct sysinfo info;
  printf("getconf: %ld %ld, %ld MiB\n", sysconf(_SC_NPROCESSORS_ONLN),
         sysconf(_SC_NPROCESSORS_CONF), sysconf(_SC_PHYS_PAGES) / 256);
  sysinfo(&info);
  printf("sysinfo: %lu MiB\n", info.totalram / 1024 / 1024 * info.mem_unit);
  uname(&names);
  printf("uname: %s\n", names.release);
  print_line_of("/proc/version", "");
  print_line_of("/proc/sys/kernel/osrelease", "");
  print_line_of("/proc/meminfo", "MemTotal:");
  print_line_of("/proc/self/status", "Cpus_allowed:");
  print_line_of("/sys/devices/system/cpu/online", "");
  printf("stat: %d\n", count_lines_of("/proc/stat", "cpu") - 1);
  printf("cpuinfo: %d\n", count_lines_of("/proc/cpuinfo", "processor"));
  printf("directories: %d\n", count_directories());
  print_line_of("/sys/devices/system/cpu/cpu0/topology/core_siblings_list", "");
  identity();
  print_group();
  const int made = open("/sys/devices/system/cpu/made", O_CREAT | O_WRONLY, 0600);
  printf("a file made there: %s\n", made < 0 ? strerror(errno) : "yes");
  affinity((unsigned)sysconf(_SC_NPROCESSORS_ONLN) - 1);
  return 0;
}
