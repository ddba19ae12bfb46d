#include "sim/machines/verify.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/text.h"

extern char** environ;

namespace anyrdma::sim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kOutputMax = std::size_t{64} << 10;
/// Of execvp(3), as a shell has it.
constexpr int kNotStarted = 127;
constexpr std::chrono::milliseconds kBetweenLooks{100};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& each : words) all.push_back(each.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with_more(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line = *each;
    if (!more.contains(std::string(line.substr(0, line.find('='))))) all.emplace_back(line);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

/// The command while it runs, and all that it starts.
class Judge {
 public:
  Judge(const std::vector<std::string>& command, const VerifyOptions& options);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// False: it had to be killed, since the time was up or somebody interrupted.
  [[nodiscard]] bool wait();
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] std::size_t more() const { return more_; }

 private:
  [[noreturn]] static void become(std::vector<std::string>& words,
                                  std::vector<std::string>& variables, const char* directory,
                                  int output);
  /// False: nobody writes any more.
  bool read_some();
  [[nodiscard]] bool has_ended();

  const VerifyOptions& options_;
  pid_t pid_ = -1;
  int from_ = -1;
  int status_ = 0;
  bool ended_ = false;
  bool interrupted_ = false;
  std::string output_;
  std::size_t more_ = 0;
};

Judge::Judge(const std::vector<std::string>& command, const VerifyOptions& options)
    : options_(options) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  from_ = ends[0];
  ::fcntl(from_, F_SETFL, O_NONBLOCK);
  std::vector<std::string> words = command;
  std::vector<std::string> variables = environment_with_more(options.environment);
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) become(words, variables, options.directory.c_str(), ends[1]);
  if (pid_ > 0) (void)::setpgid(pid_, pid_);  // as itself does, whoever comes first
  ::close(ends[1]);
}

Judge::~Judge() {
  if (pid_ > 0) (void)::kill(-pid_, SIGKILL);  // with what it has started
  while (pid_ > 0 && !ended_ && ::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) continue;
  if (from_ >= 0) ::close(from_);
}

void Judge::become(std::vector<std::string>& words, std::vector<std::string>& variables,
                   const char* directory, int output) {
  (void)::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // else it would outlive a killed run
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> all = pointers_to(variables);
  int error = ::chdir(directory) == 0 ? 0 : errno;
  if (error == 0) {
    (void)::execvpe(arguments.front(), arguments.data(), all.data());
    error = errno;
  }
  ::dprintf(STDERR_FILENO, "%s: %s\n", arguments.front(), std::strerror(error));
  ::_exit(kNotStarted);
}

bool Judge::read_some() {
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t got = ::read(from_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
    const auto size = static_cast<std::size_t>(got);
    const std::size_t kept = std::min(size, kOutputMax - output_.size());
    output_.append(bytes.data(), kept);
    more_ += size - kept;
    if (more_ != 0) return true;  // who writes on and on is looked after, too
  }
}

bool Judge::has_ended() {
  ended_ = ended_ || ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

bool Judge::wait() {
  if (pid_ < 0) return true;
  const auto end = Clock::now() + options_.limit;
  const int ending = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  bool open = true;
  while (!has_ended()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    interrupted_ = options_.interrupted && options_.interrupted();
    if (left.count() <= 0 || interrupted_) break;
    std::array<pollfd, 2> all{pollfd{.fd = ending, .events = POLLIN, .revents = 0},
                              pollfd{.fd = open ? from_ : -1, .events = POLLIN, .revents = 0}};
    (void)::poll(all.data(), all.size(), static_cast<int>(std::min(left, kBetweenLooks).count()));
    if (all[1].revents != 0) open = read_some();
  }
  if (ending >= 0) ::close(ending);
  if (open) (void)read_some();
  return ended_;
}

std::string name_of(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& each : command) text += (text.empty() ? "" : " ") + each;
  return "'" + text + "'";
}

}  // namespace

// --- the directory ------------------------------------------------------------------------------

verbs::OrWhyNot<VerifyPlace> VerifyPlace::create(const std::filesystem::path& parent) {
  int error = 0;
  if (parent.empty()) {
    auto own = std::make_unique<RunDirectory>(Storage::kDisk);
    if (!own->path().empty()) return VerifyPlace(std::move(own));
    error = own->error();
  } else {
    std::string path = (parent / "verify.XXXXXX").string();
    if (::mkdtemp(path.data()) != nullptr) return VerifyPlace(path);
    error = errno;
  }
  return verbs::WhyNot{std::string("the directory for verify cannot be made: ") +
                       std::strerror(error) + ". Check $TMPDIR."};
}

VerifyPlace::~VerifyPlace() {
  std::error_code unknown;
  if (!path_.empty()) std::filesystem::remove_all(path_, unknown);
}

bool VerifyPlace::write(std::string_view name, std::string_view text) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

bool VerifyPlace::link(std::string_view name, const std::filesystem::path& target) const {
  std::error_code error;
  std::filesystem::create_symlink(std::filesystem::absolute(target), path_ / name, error);
  return !error;
}

// --- the command --------------------------------------------------------------------------------

std::string status_line(std::string_view name, std::optional<int> status) {
  std::string line(name);
  if (!status) return line + " running";
  return WIFSIGNALED(*status) ? line + " signal " + std::to_string(WTERMSIG(*status))
                              : line + " exit " + std::to_string(WEXITSTATUS(*status));
}

std::string verify(const std::vector<std::string>& command, const VerifyOptions& options) {
  Judge judge(command, options);
  const bool ended = judge.wait();
  if (judge.interrupted()) return {};
  if (ended && WIFEXITED(judge.status()) && WEXITSTATUS(judge.status()) == 0) return {};
  std::string end;
  if (!ended) {
    char text[64];
    std::snprintf(text, sizeof text, "did not end within %g s of real time, and was killed",
                  std::chrono::duration<double>(options.limit).count());
    end = text;
  } else {
    end = ending_text(judge.status());
  }
  std::string output = judge.output();
  if (output.empty()) return "verify: " + name_of(command) + " " + end + " without a word\n";
  if (output.back() != '\n') output += '\n';
  if (judge.more() != 0) output += "(and " + std::to_string(judge.more()) + " bytes more)\n";
  return "verify: " + output + "(" + name_of(command) + " " + end + ")\n";
}

}  // namespace anyrdma::sim
