// Maps huge pages in each way that Linux has, and prints what becomes of it.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/memfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 2 << 20, kHugeTwoMegabytes = 21 << 26, kHugeGigabyte = 30 << 26 };

static const int kHuge = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;

/// Whether it is where huge pages may be and works as memory.
static void tell(const char* what, void* at, size_t bytes) {
  if (at == MAP_FAILED) {
    printf("%s: %s\n", what, strerror(errno));
    return;
  }
  memset(at, 0x5a, bytes);
  printf("%s: %s\n", what, (uintptr_t)at % kPage == 0 ? "aligned" : "not aligned");
}

static void* map(size_t bytes, int flags) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static void print_pages(const char* when) {
  char line[256];
  FILE* const file = fopen("/proc/meminfo", "r");
  printf("%s:", when);
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char name[64];
    int count = 0;
    if (sscanf(line, "%63s %d", name, &count) == 2 && strncmp(name, "HugePages_", 10) == 0)
      printf(" %s %d", name, count);
  }
  printf("\n");
  if (file != NULL) fclose(file);
}

int main(void) {
  print_pages("at first");
  char* const three = map(3 * kPage, kHuge);
  tell("three pages", three, 3 * kPage);
  print_pages("then");
  tell("two pages by their size", map(2 * kPage, kHuge | kHugeTwoMegabytes), 2 * kPage);
  tell("part of a page", map(5000, kHuge), kPage);
  tell("more than there are", map(64ul * kPage, kHuge), 1);
  tell("a page of a gigabyte", map(kPage, kHuge | kHugeGigabyte), 1);
  tell("nothing", map(0, kHuge), 0);
  if (three != MAP_FAILED) {
    tell("a fixed page",
         mmap(three + kPage, kPage, PROT_READ | PROT_WRITE, kHuge | MAP_FIXED, -1, 0), kPage);
    tell("a fixed page at no page's beginning",
         mmap(three + 4096, kPage, PROT_READ | PROT_WRITE, kHuge | MAP_FIXED, -1, 0), 1);
    munmap(three, 3 * kPage);
  }
  const int id = shmget(IPC_PRIVATE, kPage, IPC_CREAT | SHM_HUGETLB | 0600);
  if (id < 0) {
    printf("System V memory: %s\n", strerror(errno));
  } else {
    void* const shared = shmat(id, NULL, 0);
    tell("System V memory", shared, kPage);
    print_pages("with it");
    shmdt(shared);
    shmctl(id, IPC_RMID, NULL);
    print_pages("without it");
  }
  const int file = memfd_create("huge", MFD_HUGETLB);
  if (file < 0) {
    printf("memfd: %s\n", strerror(errno));
  } else {
    if (ftruncate(file, kPage) != 0) return 1;
    tell("memfd", mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), kPage);
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    tell("in a child", map(kPage, kHuge), kPage);
    exit(0);
  }
  wait(NULL);
  print_pages("in the end");
  return 0;
}
