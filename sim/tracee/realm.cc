#include "sim/tracee/realm.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
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

/// How many first processes are started until one reports, and how many times the patience of the
/// options the later ones have.
constexpr int kFirstProcesses = 7;
constexpr int kPatienceMax = 4;
/// For an answer of the first process, which needs milliseconds.
constexpr std::chrono::seconds kAnswerPatience{60};

/// The child sends no signal at its end: waitpid(2) for any child, by a test that has children of
/// its own, does not wait for this one.
pid_t clone_as_fork(int flags) {
  return static_cast<pid_t>(::syscall(SYS_clone, flags, 0, 0, 0, 0));
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
constexpr char kRemoveQueues = 'q';
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

/// A directory is read-only: what a program made in it would be there in later runs.
void show_file(const std::string& source, const std::string& target) {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;
  struct stat about {};
  const bool is_directory = ::stat(source.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0 || !is_directory)
    return;
  if (::mount(nullptr, target.c_str(), nullptr, MS_REMOUNT | MS_BIND | kFlags, nullptr) != 0)
    ::umount2(target.c_str(), MNT_DETACH);
}

/// Numbers begin anew. Only who is alone says yes: zombies count.
bool is_as_new(bool own_network) {
  if (::kill(-1, 0) == 0 || errno != ESRCH) return false;
  char byte = 0;
  if (own_network && (::recv(kChanges, &byte, sizeof byte, MSG_DONTWAIT) >= 0 || errno != EAGAIN))
    return false;
  return ::pwrite(kLastNumber, "1", 1, 0) == 1;
}

/// The kernel destroys an IPC namespace some time after its last process has ended. Until then it
/// counts the POSIX queues of the namespace against a limit of the user (RLIMIT_MSGQUEUE).
bool remove_queues() {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  constexpr char kPlace[] = "/proc";  // it is everywhere
  if (::mount("mqueue", kPlace, "mqueue", kFlags, nullptr) != 0) return false;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kPlace, error))
    ::unlink(entry.path().c_str());
  return ::umount2(kPlace, MNT_DETACH) == 0 && !error;
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
  for (const auto& [source, target] : options.files) show_file(source, target);
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
    if (word.what == kRemoveQueues) {
      (void)!::write(kChannel, remove_queues() ? &kYes : &kNo, 1);
      continue;
    }
    const bool objects_gone =
        word.what != kRenewObjects || (remove_queues() && ::unshare(CLONE_NEWIPC) == 0);
    can_renew = can_renew && objects_gone && is_as_new(network != nullptr) && directories.renew();
    (void)!::write(kChannel, can_renew ? &kYes : &kNo, 1);
  }
  ::_exit(0);
}

/// Whether a descriptor can be read within this time.
bool await_readable(int fd, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  const auto deadline = Clock::now() + patience;
  while (Clock::now() < deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const int ready = ::poll(&one, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

/// The first process's answer is yes.
bool ask_first(int channel, const Word& word) {
  char answer = kNo;
  if (::send(channel, &word, sizeof word, MSG_NOSIGNAL) != ssize_t{sizeof word} ||
      !await_readable(channel, kAnswerPatience))
    return false;
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

/// The first process of a realm, as its maker has it.
struct First {
  pid_t pid = -1;
  int flags = 0;
  Descriptor channel;
  Report report;
};

void end_first(pid_t pid) {
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) continue;
}

/// ETIMEDOUT if the process does not report in time.
verbs::Result<First> start_first(const RealmOptions& options, Network* network,
                                 std::chrono::milliseconds patience) {
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
  First first;
  first.flags = network == nullptr ? kOwn : kOwn | CLONE_NEWNET;
  first.pid = clone_with(first.flags);
  if (first.pid < 0 && network != nullptr) first.pid = clone_with(first.flags = kOwn);
  if (first.pid < 0) return verbs::errno_code(errno);
  if (first.pid == 0) {
    char byte = 0;
    mapped_in.reset();
    (void)!::read(mapped_out.get(), &byte, 1);
    channel_out.reset();
    const bool own_network = (first.flags & CLONE_NEWNET) != 0;
    be_first(std::move(ready_in), std::move(channel_in), options, own_network ? network : nullptr);
  }
  int error = 0;
  if ((first.flags & CLONE_NEWUSER) != 0 && !map_users(first.pid)) error = EPERM;
  mapped_in.reset();
  ready_in.reset();
  if (error == 0 && !await_readable(ready_out.get(), patience)) error = ETIMEDOUT;
  if (error != 0) {
    end_first(first.pid);
    return verbs::errno_code(error);
  }
  while (::read(ready_out.get(), &first.report, sizeof first.report) < 0 && errno == EINTR)
    continue;
  first.channel = std::move(channel_out);
  return first;
}

}  // namespace

/// If another thread holds a lock of malloc's at the clone, the lock stays held in the new process,
/// which then waits for it without end. We end that process and start another one.
verbs::Result<std::unique_ptr<Realm>> Realm::create(const RealmOptions& options, Network* network) {
  verbs::Result<First> first = start_first(options, network, options.patience);
  for (int count = 1; count < kFirstProcesses && first.error() == verbs::errno_code(ETIMEDOUT);
       ++count)
    first = start_first(options, network, options.patience * std::min(1 << count, kPatienceMax));
  if (!first) return first.error();
  std::unique_ptr<Realm> realm(new Realm);
  realm->owner_ = ::getpid();
  realm->first_ = first->pid;
  realm->channel_ = std::move(first->channel);
  realm->network_made_ = first->report.network;
  realm->own_directories_ = first->report.directories;
  if ((first->flags & CLONE_NEWUSER) != 0) realm->user_ = namespace_of(first->pid, "user");
  if ((first->flags & CLONE_NEWNET) != 0) realm->network_ = namespace_of(first->pid, "net");
  realm->pid_ = namespace_of(first->pid, "pid");
  realm->mount_ = namespace_of(first->pid, "mnt");
  const std::string root = "/proc/" + std::to_string(first->pid) + "/root";
  realm->root_ = Descriptor(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  realm->ipc_ = namespace_of(first->pid, "ipc");
  realm->names_ = namespace_of(first->pid, "uts");
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
  if (has_objects_) (void)ask_first(channel_.get(), {.what = kRemoveQueues});
  end_first(first_);
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
