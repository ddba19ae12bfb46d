#include "sim/tracee/realm.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

namespace anyrdma::sim::tracee {
namespace {

using transport::realtime::Descriptor;

constexpr int kOwn = CLONE_NEWPID | CLONE_NEWNS;

pid_t clone_as_fork(int flags) {
  return static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0));
}

/// Without privileges in a user namespace, which `flags` says then.
pid_t clone_with(int& flags) {
  const pid_t pid = clone_as_fork(flags);
  if (pid >= 0 || errno != EPERM) return pid;
  flags |= CLONE_NEWUSER;
  return clone_as_fork(flags);
}

using Files = std::vector<std::pair<std::string, std::string>>;

/// What /sys says of interfaces is its mounter's. It is mounted where /proc will be, since there is
/// no other place that is everywhere.
void show_network() {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;
  if (::mount("sysfs", "/proc", "sysfs", kFlags, nullptr) != 0) return;
  ::mount("/proc/class/net", "/sys/class/net", nullptr, MS_BIND, nullptr);
  ::mount("/proc/devices/virtual/net", "/sys/devices/virtual/net", nullptr, MS_BIND, nullptr);
  ::umount2("/proc", MNT_DETACH);
}

/// Where it may not have a /proc of its own, it has the outer one.
[[noreturn]] void be_first(int ready, const Files& files, Network* network) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  const Network::Made made = network == nullptr ? Network::Made::kNothing : network->set_up();
  if (network != nullptr) show_network();
  ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  for (const auto& [source, target] : files)
    ::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr);
  (void)!::write(ready, &made, sizeof made);
  // It would keep open what others wait for the end of.
  ::syscall(SYS_close_range, 0u, ~0u, 0u);
  for (;;) {
    if (::waitpid(-1, nullptr, 0) < 0) ::poll(nullptr, 0, 1000);
  }
}

bool write_file(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// In the realm everybody is who they are outside.
bool map_users(pid_t pid) {
  const std::string place = "/proc/" + std::to_string(pid);
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  return write_file(place + "/uid_map", user + " " + user + " 1") &&
         write_file(place + "/setgroups", "deny") &&
         write_file(place + "/gid_map", group + " " + group + " 1");
}

Descriptor namespace_of(pid_t pid, const char* kind) {
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/" + kind;
  return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

verbs::Result<std::unique_ptr<Realm>> Realm::create(const Files& files, Network* network) {
  int ready[2];
  int mapped[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return verbs::errno_code(errno);
  Descriptor ready_out(ready[0]);
  Descriptor ready_in(ready[1]);
  if (::pipe2(mapped, O_CLOEXEC) != 0) return verbs::errno_code(errno);
  Descriptor mapped_out(mapped[0]);
  Descriptor mapped_in(mapped[1]);
  int flags = network == nullptr ? kOwn : kOwn | CLONE_NEWNET;
  pid_t pid = clone_with(flags);
  if (pid < 0 && network != nullptr) pid = clone_with(flags = kOwn);
  if (pid < 0) return verbs::errno_code(errno);
  const bool own_users = (flags & CLONE_NEWUSER) != 0;
  const bool own_network = (flags & CLONE_NEWNET) != 0;
  if (pid == 0) {
    char byte = 0;
    mapped_in.reset();
    (void)!::read(mapped_out.get(), &byte, 1);
    be_first(ready_in.release(), files, own_network ? network : nullptr);
  }
  std::unique_ptr<Realm> realm(new Realm);
  realm->first_ = pid;
  if (own_users && !map_users(pid)) return verbs::errno_code(EPERM);
  mapped_in.reset();
  ready_in.reset();
  Network::Made& made = realm->network_made_;
  while (::read(ready_out.get(), &made, sizeof made) < 0 && errno == EINTR) continue;
  if (own_users) realm->user_ = namespace_of(pid, "user");
  if (own_network) realm->network_ = namespace_of(pid, "net");
  realm->pid_ = namespace_of(pid, "pid");
  realm->mount_ = namespace_of(pid, "mnt");
  if (!realm->pid_ || !realm->mount_) return verbs::errno_code(EMFILE);
  return realm;
}

Realm::~Realm() {
  if (first_ < 0) return;
  ::kill(first_, SIGKILL);
  while (::waitpid(first_, nullptr, __WALL) < 0 && errno == EINTR) continue;
}

bool Realm::enter() const {
  if (user_ && ::setns(user_.get(), CLONE_NEWUSER) != 0) return false;
  if (network_ && ::setns(network_.get(), CLONE_NEWNET) != 0) return false;
  return ::setns(mount_.get(), CLONE_NEWNS) == 0 && ::setns(pid_.get(), CLONE_NEWPID) == 0;
}

}  // namespace anyrdma::sim::tracee
