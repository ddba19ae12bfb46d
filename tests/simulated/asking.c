// Asks for one fact about the machine, in the way that the argument names.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ask_user(const char* how) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  uid_t ids[3];
  if (strcmp(how, "getuid") == 0) return getuid() == (uid_t)-1;
  if (strcmp(how, "getegid") == 0) return getegid() == (gid_t)-1;
  if (strcmp(how, "getresuid") == 0) return getresuid(&ids[0], &ids[1], &ids[2]);
  if (strcmp(how, "getgroups") == 0) return getgroups(0, NULL) < 0;
  return (int)syscall(SYS_capget, &header, data);
}

static int ask_file(const char* how, const char* file) {
  struct stat about;
  struct statx more;
  char text[4096];
  if (strcmp(how, "stat") == 0) return stat(file, &about);
  if (strcmp(how, "statx") == 0) return statx(AT_FDCWD, file, 0, STATX_MTIME, &more);
  if (strcmp(how, "getdents") == 0) {
    DIR* const directory = opendir(file);
    return directory == NULL || readdir(directory) == NULL;
  }
  const int fd = open(file, O_RDONLY);
  if (strcmp(how, "fstat") == 0) return fstat(fd, &about);
  return read(fd, text, sizeof text) <= 0;
}

int main(int count, char** words) {
  unsigned a, b, c, d;
  struct rlimit limit;
  const char* const how = count > 1 ? words[1] : "";
  if (count > 2) return ask_file(how, words[2]) != 0;
  if (strcmp(how, "cpuid") == 0) {
    __cpuid(0, a, b, c, d);
    return a == 0;
  }
  if (strcmp(how, "getrlimit") == 0) return getrlimit(RLIMIT_CORE, &limit) != 0;
  if (strncmp(how, "get", 3) == 0 || strcmp(how, "capget") == 0) return ask_user(how) != 0;
  return *how == '\0' ? 0 : 2;
}
