// Our device where programs look for one before they use it, or instead: below
// /sys/class/infiniband and /dev/infiniband (rdma-core's tests, ibstat, UCX, NCCL, Open MPI). Only
// root could make anything there. `anyrdma run` writes what a kernel would show into a directory
// (tools/nodes), names it in ANYRDMA_NODES, and has the loader put this library before all others
// (LD_PRELOAD): whoever names one of those folders is led into that directory, and nobody else is.
// Without such a directory only the device's node is there, of which /dev/null stands in the place.
// It stands in every program's way: it needs nothing but libc, and asks it under the same name.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr const char* kStandIn = "/dev/null";
constexpr const char* kOurs[] = {"/sys/class/infiniband", "/sys/class/infiniband_verbs",
                                 "/sys/class/infiniband_mad", "/dev/infiniband"};

char directory[PATH_MAX];  // as it was when the program began; empty: there is none

__attribute__((constructor)) void find_directory() {
  const char* const said = std::getenv("ANYRDMA_NODES");
  if (said != nullptr && said[0] == '/' && std::strlen(said) < sizeof directory)
    std::strcpy(directory, said);
}

/// "/dev/infiniband/uverbs" and a number.
bool is_node(const char* path) {
  constexpr const char* kNode = "/dev/infiniband/uverbs";
  const std::size_t length = std::strlen(kNode);
  if (std::strncmp(path, kNode, length) != 0) return false;
  const char* const number = path + length;
  return *number != '\0' && number[std::strspn(number, "0123456789")] == '\0';
}

bool is_ours(const char* path) {
  for (const char* folder : kOurs) {
    const std::size_t length = std::strlen(folder);
    if (std::strncmp(path, folder, length) != 0) continue;
    if (path[length] == '/' || path[length] == '\0') return true;
  }
  return false;
}

/// What `ask` says of the place in our directory. Apart, because threads and signal handlers that
/// only pass by may have small stacks.
template <class Ask>
__attribute__((noinline)) auto ask_elsewhere(const char* path, Ask ask) {
  char place[2 * PATH_MAX];
  const std::size_t front = std::strlen(directory);
  std::memcpy(place, directory, front);
  std::memcpy(place + front, path, std::strlen(path) + 1);
  return ask(static_cast<const char*>(place));
}

bool leads_elsewhere(const char* path) {
  return path != nullptr && directory[0] != '\0' && is_ours(path) && std::strlen(path) < PATH_MAX;
}

/// What `ask` says of where the path leads.
template <class Ask>
auto ask_of(const char* path, Ask ask) {
  return leads_elsewhere(path) ? ask_elsewhere(path, ask) : ask(path);
}

/// libc's function of that name: the one that would have been called without us.
template <class Function>
class Libc {
 public:
  explicit constexpr Libc(const char* name) : name_(name) {}
  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    Function* found = __atomic_load_n(&found_, __ATOMIC_RELAXED);
    if (found == nullptr) {
      found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
      __atomic_store_n(&found_, found, __ATOMIC_RELAXED);
    }
    return found(arguments...);
  }

 private:
  const char* name_;
  Function* found_ = nullptr;
};

/// The same, or of what stands in for the node.
template <class Ask>
int ask_about(const char* path, Ask ask) {
  const int result = ask_of(path, ask);
  const bool missing = result != 0 && errno == ENOENT && !leads_elsewhere(path);
  return missing && is_node(path) ? ask(kStandIn) : result;
}

/// What /sys shows of a device, everybody's runs read: nobody writes there, and neither does root
/// in a kernel's, where a file has nobody who may (K/kernfs_fop_open).
bool is_refused(const char* path, bool writes) {
  if (!writes || !leads_elsewhere(path) || std::strncmp(path, "/sys/", 5) != 0) return false;
  errno = EACCES;
  return true;
}

template <class Ask>
int open_of(const char* path, int flags, Ask ask) {
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  return is_refused(path, writes) ? -1 : ask_of(path, ask);
}

template <class Ask>
FILE* open_of(const char* path, const char* mode, Ask ask) {
  const bool writes = mode[0] != 'r' || std::strchr(mode, '+') != nullptr;
  return is_refused(path, writes) ? nullptr : ask_of(path, ask);
}

static_assert(sizeof(struct stat) == sizeof(struct stat64), "one function serves both");

using Open = int(const char*, int, ...);
using OpenAt = int(int, const char*, int, ...);
using CheckedOpen = int(const char*, int);
using CheckedOpenAt = int(int, const char*, int);
using OpenFile = FILE*(const char*, const char*);
using Scan = int(const char*, void*, void*, void*);

Libc<Open> libc_open("open");
Libc<Open> libc_open64("open64");
Libc<OpenAt> libc_openat("openat");
Libc<OpenAt> libc_openat64("openat64");
Libc<CheckedOpen> libc_open_2("__open_2");
Libc<CheckedOpen> libc_open64_2("__open64_2");
Libc<CheckedOpenAt> libc_openat_2("__openat_2");
Libc<CheckedOpenAt> libc_openat64_2("__openat64_2");
Libc<OpenFile> libc_fopen("fopen");
Libc<OpenFile> libc_fopen64("fopen64");
Libc<DIR*(const char*)> libc_opendir("opendir");
Libc<Scan> libc_scandir("scandir");
Libc<Scan> libc_scandir64("scandir64");
Libc<int(int, const char*, int, int)> libc_faccessat("faccessat");
Libc<int(int, const char*, void*, int)> libc_fstatat("fstatat");
Libc<int(int, const char*, int, unsigned, void*)> libc_statx("statx");
Libc<ssize_t(const char*, char*, std::size_t)> libc_readlink("readlink");
Libc<ssize_t(int, const char*, char*, std::size_t)> libc_readlinkat("readlinkat");
Libc<char*(const char*, char*)> libc_realpath("realpath");
using GetXattr = ssize_t(const char*, const char*, void*, std::size_t);
using ListXattr = ssize_t(const char*, char*, std::size_t);
Libc<GetXattr> libc_getxattr("getxattr");
Libc<GetXattr> libc_lgetxattr("lgetxattr");
Libc<ListXattr> libc_listxattr("listxattr");
Libc<ListXattr> libc_llistxattr("llistxattr");

int say_status(int at, const char* path, void* status, int flags) {
  return ask_about(path, [=](const char* of) { return libc_fstatat(at, of, status, flags); });
}

/// As open(2) has it: who makes a file says how.
#define MODE_OF(flags)                                              \
  mode_t mode = 0;                                                  \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list more;                                                   \
    va_start(more, flags);                                          \
    mode = va_arg(more, mode_t);                                    \
    va_end(more);                                                   \
  }

}  // namespace

// Their names and lists of arguments are libc's.
// NOLINTBEGIN(cert-dcl50-cpp,cppcoreguidelines-pro-type-vararg,bugprone-reserved-identifier)
extern "C" {

// --- what is there ------------------------------------------------------------------------------

int faccessat(int at, const char* path, int mode, int flags) noexcept {
  return ask_about(path, [=](const char* of) { return libc_faccessat(at, of, mode, flags); });
}

int access(const char* path, int mode) noexcept {
  return ask_about(path, [=](const char* of) { return libc_faccessat(AT_FDCWD, of, mode, 0); });
}

int euidaccess(const char* path, int mode) noexcept {
  return ask_about(path,
                   [=](const char* of) { return libc_faccessat(AT_FDCWD, of, mode, AT_EACCESS); });
}

int eaccess(const char* path, int mode) noexcept {
  return euidaccess(path, mode);
}

int stat(const char* path, struct stat* status) noexcept {
  return say_status(AT_FDCWD, path, status, 0);
}

int stat64(const char* path, struct stat64* status) noexcept {
  return say_status(AT_FDCWD, path, status, 0);
}

int lstat(const char* path, struct stat* status) noexcept {
  return say_status(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int lstat64(const char* path, struct stat64* status) noexcept {
  return say_status(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int fstatat(int at, const char* path, struct stat* status, int flags) noexcept {
  return say_status(at, path, status, flags);
}

int fstatat64(int at, const char* path, struct stat64* status, int flags) noexcept {
  return say_status(at, path, status, flags);
}

int statx(int at, const char* path, int flags, unsigned mask, struct statx* status) noexcept {
  return ask_about(path, [=](const char* of) { return libc_statx(at, of, flags, mask, status); });
}

// What programs call that were built with a glibc older than 2.33.
int old_stat(int version, const char* path, struct stat* status) noexcept __asm__("__xstat");
int old_stat(int /*version*/, const char* path, struct stat* status) noexcept {
  return say_status(AT_FDCWD, path, status, 0);
}

int old_stat64(int version, const char* path, struct stat* status) noexcept __asm__("__xstat64");
int old_stat64(int /*version*/, const char* path, struct stat* status) noexcept {
  return say_status(AT_FDCWD, path, status, 0);
}

int old_lstat(int version, const char* path, struct stat* status) noexcept __asm__("__lxstat");
int old_lstat(int /*version*/, const char* path, struct stat* status) noexcept {
  return say_status(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int old_lstat64(int version, const char* path, struct stat* status) noexcept __asm__("__lxstat64");
int old_lstat64(int /*version*/, const char* path, struct stat* status) noexcept {
  return say_status(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

// --- what `ls -l` asks as well ------------------------------------------------------------------

ssize_t getxattr(const char* path, const char* name, void* value, std::size_t size) noexcept {
  return ask_of(path, [=](const char* of) { return libc_getxattr(of, name, value, size); });
}

ssize_t lgetxattr(const char* path, const char* name, void* value, std::size_t size) noexcept {
  return ask_of(path, [=](const char* of) { return libc_lgetxattr(of, name, value, size); });
}

ssize_t listxattr(const char* path, char* names, std::size_t size) noexcept {
  return ask_of(path, [=](const char* of) { return libc_listxattr(of, names, size); });
}

ssize_t llistxattr(const char* path, char* names, std::size_t size) noexcept {
  return ask_of(path, [=](const char* of) { return libc_llistxattr(of, names, size); });
}

// --- what is in it ------------------------------------------------------------------------------

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_of(path, flags, [=](const char* of) { return libc_open(of, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_of(path, flags, [=](const char* of) { return libc_open64(of, flags, mode); });
}

int openat(int at, const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_of(path, flags, [=](const char* of) { return libc_openat(at, of, flags, mode); });
}

int openat64(int at, const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_of(path, flags, [=](const char* of) { return libc_openat64(at, of, flags, mode); });
}

// With _FORTIFY_SOURCE, where a mode cannot be forgotten.
int checked_open(const char* path, int flags) __asm__("__open_2");
int checked_open(const char* path, int flags) {
  return open_of(path, flags, [=](const char* of) { return libc_open_2(of, flags); });
}

int checked_open64(const char* path, int flags) __asm__("__open64_2");
int checked_open64(const char* path, int flags) {
  return open_of(path, flags, [=](const char* of) { return libc_open64_2(of, flags); });
}

int checked_openat(int at, const char* path, int flags) __asm__("__openat_2");
int checked_openat(int at, const char* path, int flags) {
  return open_of(path, flags, [=](const char* of) { return libc_openat_2(at, of, flags); });
}

int checked_openat64(int at, const char* path, int flags) __asm__("__openat64_2");
int checked_openat64(int at, const char* path, int flags) {
  return open_of(path, flags, [=](const char* of) { return libc_openat64_2(at, of, flags); });
}

FILE* fopen(const char* path, const char* mode) {
  return open_of(path, mode, [=](const char* of) { return libc_fopen(of, mode); });
}

FILE* fopen64(const char* path, const char* mode) {
  return open_of(path, mode, [=](const char* of) { return libc_fopen64(of, mode); });
}

DIR* opendir(const char* path) {
  return ask_of(path, [](const char* of) { return libc_opendir(of); });
}

int scandir(const char* path, dirent*** names, int (*wanted)(const dirent*),
            int (*order)(const dirent**, const dirent**)) {
  return ask_of(path, [=](const char* of) {
    return libc_scandir(of, names, reinterpret_cast<void*>(wanted), reinterpret_cast<void*>(order));
  });
}

int scandir64(const char* path, dirent64*** names, int (*wanted)(const dirent64*),
              int (*order)(const dirent64**, const dirent64**)) {
  return ask_of(path, [=](const char* of) {
    return libc_scandir64(of, names, reinterpret_cast<void*>(wanted),
                          reinterpret_cast<void*>(order));
  });
}

// --- links --------------------------------------------------------------------------------------

ssize_t readlink(const char* path, char* buffer, std::size_t size) noexcept {
  return ask_of(path, [=](const char* of) { return libc_readlink(of, buffer, size); });
}

ssize_t readlinkat(int at, const char* path, char* buffer, std::size_t size) noexcept {
  return ask_of(path, [=](const char* of) { return libc_readlinkat(at, of, buffer, size); });
}

// What is found stands where it stands: our directory has no links of its own.
char* realpath(const char* path, char* resolved) noexcept {
  return ask_of(path, [=](const char* of) { return libc_realpath(of, resolved); });
}
}
// NOLINTEND(cert-dcl50-cpp,cppcoreguidelines-pro-type-vararg,bugprone-reserved-identifier)
