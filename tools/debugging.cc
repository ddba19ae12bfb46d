#include "tools/debugging.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "sim/debug/session/socket.h"
#include "sim/machines/run_directory.h"
#include "tools/interruption.h"
#include "tools/start.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::tools {
namespace {

using transport::realtime::Descriptor;

/// What gdb does first.
std::vector<std::string> commands(const std::string& socket, const std::string& destination) {
  // A run of long programs takes a while to begin.
  std::vector<std::string> all{"set remotetimeout 60", "set schedule-multiple on",
                               "target extended-remote " + socket};
  if (!destination.empty()) {
    all.push_back("monitor goto " + destination);
    all.emplace_back("continue");
  }
  return all;
}

/// gdb in this terminal, as no child of ours: the supervisor waits for all of those.
class StartedGdb {
 public:
  /// Until its program runs. False: there is none.
  [[nodiscard]] bool start(const std::string& socket, const std::string& destination) {
    int life[2];
    int report[2];
    if (::pipe(life) != 0) return false;
    life_ = Descriptor(life[0]);
    const Descriptor held(life[1]);
    if (::pipe2(report, O_CLOEXEC) != 0) return false;
    const Descriptor reported(report[0]);
    Descriptor reports(report[1]);
    ::fcntl(life[0], F_SETFD, FD_CLOEXEC);
    const pid_t between = ::fork();
    if (between < 0) return false;
    if (between == 0) {
      if (::fork() != 0) ::_exit(0);
      std::vector<std::string> words{
          "gdb", "-q", "-iex", "set confirm off", "-iex", "set pagination off"};
      for (const std::string& each : commands(socket, destination)) {
        words.emplace_back("-ex");
        words.push_back(each);
      }
      std::vector<char*> arguments;
      for (std::string& each : words) arguments.push_back(each.data());
      arguments.push_back(nullptr);
      const pid_t self = ::getpid();
      (void)!::write(report[1], &self, sizeof self);
      ::execvp("gdb", arguments.data());
      (void)!::write(report[1], "x", 1);
      ::_exit(127);
    }
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) continue;
    reports.reset();
    char byte = 0;
    return read_from(reported, &pid_, sizeof pid_) == sizeof pid_ &&
           read_from(reported, &byte, 1) == 0;
  }
  /// Waits for its end. When this command is to end, gdb is told to.
  ~StartedGdb() {
    if (!life_) return;
    constexpr int kPauseMs = 100;
    pollfd one{.fd = life_.get(), .events = POLLIN, .revents = 0};
    while (::poll(&one, 1, kPauseMs) <= 0) {
      if (!Interruption::came()) continue;
      ::kill(pid_, SIGTERM);
      return;
    }
  }
  StartedGdb() = default;
  StartedGdb(const StartedGdb&) = delete;
  StartedGdb& operator=(const StartedGdb&) = delete;

 private:
  static ssize_t read_from(const Descriptor& pipe, void* into, std::size_t bytes) {
    ssize_t size = 0;
    while ((size = ::read(pipe.get(), into, bytes)) < 0 && errno == EINTR) continue;
    return size;
  }

  Descriptor life_;
  pid_t pid_ = -1;
};

class Connected final : public Debugging {
 public:
  explicit Connected(std::unique_ptr<StartedGdb> gdb) : gdb_(std::move(gdb)) {}
  sim::debug::Cluster& cluster() override { return *cluster_; }
  void connect(std::unique_ptr<sim::debug::Connection> connection) {
    cluster_ = std::make_unique<sim::debug::Cluster>(std::move(connection));
  }

 private:
  std::unique_ptr<StartedGdb> gdb_;  // ends after the connection
  std::unique_ptr<sim::debug::Cluster> cluster_;
};

}  // namespace

std::unique_ptr<Debugging> Debugging::begin(const std::string& socket,
                                            const std::string& destination) {
  const sim::RunDirectory directory;
  const std::string path = socket.empty() ? (directory.path() / "socket").string() : socket;
  auto listening = sim::debug::ListeningSocket::create(path);
  if (!listening) {
    say("gdb's socket '" + path + "' cannot be made: " +
        (listening.error().value() == EEXIST
             ? std::string("there is a file of that name. Remove it, or name another.")
             : listening.error().message() + ". Check the path."));
    return nullptr;
  }
  std::unique_ptr<StartedGdb> gdb;
  if (socket.empty()) {
    gdb = std::make_unique<StartedGdb>();
    ::signal(SIGINT, SIG_IGN);  // Ctrl-C is for gdb
    if (!gdb->start(path, destination)) {
      say("gdb cannot be started. Install Debian's package gdb, or name a socket: --gdb SOCKET.");
      return nullptr;
    }
  } else {
    std::string text = "the run waits for gdb";
    for (const std::string& each : commands(path, destination)) text += " -ex '" + each + "'";
    say(text);
  }
  auto connected = std::make_unique<Connected>(std::move(gdb));
  auto connection = listening->accept(&Interruption::came);
  if (connection == nullptr) return nullptr;
  connected->connect(std::move(connection));
  return connected;
}

std::string debug_command(const std::string& command) {
  return command + " --gdb --goto failure";
}

}  // namespace anyrdma::tools
