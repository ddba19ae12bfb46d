#include "sim/tracee/realm.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace anyrdma::sim::tracee {
namespace {

using transport::realtime::Descriptor;

constexpr int kOwn = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;

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

/// Links as in the kernel's directory, whose order depends on where it has its namespaces. A tmpfs
/// lists first what came last.
bool list_interfaces() {
  std::error_code error;
  std::map<std::string, std::filesystem::path, std::greater<>> links;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/class/net", error)) {
    if (entry.is_symlink(error))
      links[entry.path().filename()] = std::filesystem::read_symlink(entry, error);
  }
  constexpr unsigned long kMade = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (error || ::mount("tmpfs", "/sys/class/net", "tmpfs", kMade, "mode=755") != 0) return false;
  for (const auto& [name, target] : links)
    std::filesystem::create_symlink(target, std::filesystem::path("/sys/class/net") / name, error);
  ::mount(nullptr, "/sys/class/net", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kMade, nullptr);
  return true;
}

/// What /sys says of interfaces is its mounter's. It is mounted where /proc will be, since there is
/// no other place that is everywhere.
void show_network() {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;
  if (::mount("sysfs", "/proc", "sysfs", kFlags, nullptr) != 0) return;
  if (!list_interfaces()) ::mount("/proc/class/net", "/sys/class/net", nullptr, MS_BIND, nullptr);
  ::mount("/proc/devices/virtual/net", "/sys/devices/virtual/net", nullptr, MS_BIND, nullptr);
  ::umount2("/proc", MNT_DETACH);
}

constexpr char kRenew = 'r';
constexpr char kRenewObjects = 'o';
constexpr char kChangeAddress = 'a';
constexpr char kNo = 'n';
constexpr char kYes = 'y';

/// What the first process holds while others live, at these numbers.
enum Held : int { kChannel, kChanges, kLastNumber, kReady, kHeld };

/// What is said to the first process.
struct Word {
  char what = 0;
  bool added = false;
  std::array<char, IFNAMSIZ> interface {};
  transport::soft::Prefix prefix{};
};
static_assert(std::is_trivially_copyable_v<Word>, "it is sent from process to process");

/// What the first process reports.
struct Report {
  Network::Made network = Network::Made::kNothing;
  bool directories = false;
};

/// Hears of each change to the namespace's interfaces, addresses, routes, rules, neighbours, and
/// queues. Source: rtnetlink(7).
Descriptor changes_of_network() {
  Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl all{};
  all.nl_family = AF_NETLINK;
  all.nl_groups = ~0u;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&all), sizeof all) != 0) return {};
  return socket;
}

/// Settings of a network can be written, and nobody tells; those that are the system's are not a
/// program's to change either.
bool protect_settings() {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;
  return ::mount("/proc/sys", "/proc/sys", nullptr, MS_BIND, nullptr) == 0 &&
         ::mount(nullptr, "/proc/sys", nullptr, MS_REMOUNT | MS_BIND | kFlags, nullptr) == 0;
}

/// Numbers begin anew. Only who is alone says yes: zombies count.
bool is_as_new(bool own_network) {
  if (::kill(-1, 0) == 0 || errno != ESRCH) return false;
  char byte = 0;
  if (own_network && (::recv(kChanges, &byte, sizeof byte, MSG_DONTWAIT) >= 0 || errno != EAGAIN))
    return false;
  return ::pwrite(kLastNumber, "1", 1, 0) == 1;
}

/// Of the descriptors of its maker it would keep open what others wait for the end of.
void hold_only(std::array<Descriptor, kHeld> descriptors) {
  for (Descriptor& each : descriptors)
    each = Descriptor(::fcntl(each.get(), F_DUPFD_CLOEXEC, int{kHeld}));
  for (int i = 0; i < kHeld; ++i) {
    const int fd = descriptors[static_cast<std::size_t>(i)].get();
    if (fd < 0 || ::dup2(fd, i) < 0) ::close(i);
  }
  ::syscall(SYS_close_range, unsigned{kHeld}, ~0u, 0u);
  for (Descriptor& each : descriptors) (void)each.release();
}

/// Where it may not have a /proc of its own, it has the outer one, and cannot be as new.
[[noreturn]] void be_first(Descriptor ready, Descriptor channel, const RealmOptions& options,
                           Network* network) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGCHLD, SIG_IGN);  // orphans are gone when they end
  // A terminal's signals go to all of its foreground; who comes first in a namespace has none that
  // it does not handle.
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  (void)!::sethostname(options.name.data(), options.name.size());
  Report report;
  if (network != nullptr) report.network = network->set_up();
  if (network != nullptr) show_network();
  const bool own_proc =
      ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
  Descriptor last(own_proc ? ::open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC) : -1);
  Descriptor changes = network == nullptr ? Descriptor() : changes_of_network();
  bool can_renew = own_proc && last && (network == nullptr || changes) && protect_settings();
  for (const auto& [source, target] : options.files)
    ::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr);
  hold_only({std::move(channel), std::move(changes), std::move(last), std::move(ready)});
  OwnDirectories directories(options.common);
  report.directories = directories.mount();
  (void)!::write(kReady, &report, sizeof report);
  ::close(kReady);
  for (Word word; ::read(kChannel, &word, sizeof word) == ssize_t{sizeof word};) {
    if (word.what == kChangeAddress) {
      const bool done = tracee::change_address(word.interface.data(), word.prefix, word.added);
      (void)!::write(kChannel, done ? &kYes : &kNo, 1);
      continue;
    }
    const bool objects_gone = word.what != kRenewObjects || ::unshare(CLONE_NEWIPC) == 0;
    can_renew = can_renew && objects_gone && is_as_new(network != nullptr) && directories.renew();
    (void)!::write(kChannel, can_renew ? &kYes : &kNo, 1);
  }
  ::_exit(0);
}

/// The first process's answer is yes.
bool ask_first(int channel, const Word& word) {
  char answer = kNo;
  if (::send(channel, &word, sizeof word, MSG_NOSIGNAL) != ssize_t{sizeof word}) return false;
  while (::read(channel, &answer, 1) < 0 && errno == EINTR) continue;
  return answer == kYes;
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

verbs::Result<std::unique_ptr<Realm>> Realm::create(const RealmOptions& options, Network* network) {
  int ready[2];
  int mapped[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return verbs::errno_code(errno);
  Descriptor ready_out(ready[0]);
  Descriptor ready_in(ready[1]);
  if (::pipe2(mapped, O_CLOEXEC) != 0) return verbs::errno_code(errno);
  Descriptor mapped_out(mapped[0]);
  Descriptor mapped_in(mapped[1]);
  int channel[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0)
    return verbs::errno_code(errno);
  Descriptor channel_out(channel[0]);
  Descriptor channel_in(channel[1]);
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
    channel_out.reset();
    be_first(std::move(ready_in), std::move(channel_in), options, own_network ? network : nullptr);
  }
  std::unique_ptr<Realm> realm(new Realm);
  realm->owner_ = ::getpid();
  realm->first_ = pid;
  realm->channel_ = std::move(channel_out);
  if (own_users && !map_users(pid)) return verbs::errno_code(EPERM);
  mapped_in.reset();
  ready_in.reset();
  Report report;
  while (::read(ready_out.get(), &report, sizeof report) < 0 && errno == EINTR) continue;
  realm->network_made_ = report.network;
  realm->own_directories_ = report.directories;
  if (own_users) realm->user_ = namespace_of(pid, "user");
  if (own_network) realm->network_ = namespace_of(pid, "net");
  realm->pid_ = namespace_of(pid, "pid");
  realm->mount_ = namespace_of(pid, "mnt");
  const std::string root = "/proc/" + std::to_string(pid) + "/root";
  realm->root_ = Descriptor(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  realm->ipc_ = namespace_of(pid, "ipc");
  realm->names_ = namespace_of(pid, "uts");
  if (!realm->pid_ || !realm->mount_ || !realm->root_ || !realm->ipc_ || !realm->names_)
    return verbs::errno_code(EMFILE);
  return realm;
}

bool Realm::change_address(const std::string& interface, const transport::soft::Prefix& prefix,
                           bool added) {
  if (!network_) return false;
  Word word{.what = kChangeAddress, .added = added, .prefix = prefix};
  interface.copy(word.interface.data(), word.interface.size() - 1);
  return ask_first(channel_.get(), word);
}

bool Realm::renew() {
  if (!ask_first(channel_.get(), {.what = has_objects_ ? kRenewObjects : kRenew})) return false;
  if (std::exchange(has_objects_, false)) ipc_ = namespace_of(first_, "ipc");
  return static_cast<bool>(ipc_);
}

Realm::~Realm() {
  if (first_ < 0 || owner_ != ::getpid()) return;
  ::kill(first_, SIGKILL);
  while (::waitpid(first_, nullptr, __WALL) < 0 && errno == EINTR) continue;
}

/// A mount namespace has a root directory of its own, which is not that of a process in a chroot.
bool Realm::enter() const {
  if (user_ && ::setns(user_.get(), CLONE_NEWUSER) != 0) return false;
  if (network_ && ::setns(network_.get(), CLONE_NEWNET) != 0) return false;
  return ::setns(ipc_.get(), CLONE_NEWIPC) == 0 && ::setns(names_.get(), CLONE_NEWUTS) == 0 &&
         ::setns(mount_.get(), CLONE_NEWNS) == 0 && ::fchdir(root_.get()) == 0 &&
         ::chroot(".") == 0 && ::setns(pid_.get(), CLONE_NEWPID) == 0;
}

}  // namespace anyrdma::sim::tracee
