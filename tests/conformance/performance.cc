#include "tests/conformance/performance.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>
#include <utility>

#include "tests/conformance/require.h"

namespace anyrdma::conformance {
namespace {

/// Longer than any scenario's own patience.
constexpr std::chrono::seconds kPatience{200};
constexpr int kLastWordsMs = 2000;
/// Besides the slow ones. Most of their time is spent waiting.
constexpr std::ptrdiff_t kAtOnce = 10;

void write_all(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(to, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

// --- of a child, which may be stopped at any point ---

const Stage* performing = nullptr;
int report_to = -1;

/// Tells what has been shown so far, even where nothing more can be expected of the process: what
/// it crashed in, or waits in, is a library's.
void tell_and_end(int) {
  std::string text;
  for (const std::string& line : performing->record().lines_so_far()) text += line + "\n";
  write_all(report_to, text);
  ::_exit(1);
}

void tell_when_stopped() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGTERM})
    (void)::signal(signal, tell_and_end);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Whoever comes late finds what came in time. True: and nothing more will come.
bool read_what_came(int pipe, std::string& text) {
  std::array<char, 4096> part{};
  pollfd entry{pipe, POLLIN, 0};
  while (::poll(&entry, 1, 0) == 1) {
    const ssize_t length = ::read(pipe, part.data(), part.size());
    if (length <= 0) return true;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
  return false;
}

/// What still comes, if it comes soon.
std::string rest_of(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  pollfd entry{pipe, POLLIN, 0};
  while (::poll(&entry, 1, kLastWordsMs) == 1) {
    const ssize_t length = ::read(pipe, part.data(), part.size());
    if (length <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
  return text;
}

}  // namespace

std::vector<std::string> perform(std::size_t number) {
  const std::unique_ptr<Backend> backend = make_backend(static_cast<unsigned>(number));
  Stage stage(*backend, static_cast<unsigned>(number));
  performing = &stage;
  scenarios()[number].body(stage, stage.server(), stage.client());
  return stage.record().lines();
}

Performances::~Performances() {
  for (const auto& [number, each] : running_) {
    (void)::kill(each.process, SIGKILL);
    (void)::waitpid(each.process, nullptr, 0);
    (void)::close(each.pipe);
  }
}

void Performances::plan(const std::vector<std::size_t>& numbers) {
  for (const std::size_t number : numbers) {
    if (scenarios()[number].slow) {
      start(number);
    } else {
      planned_.push_back(number);
    }
  }
}

std::vector<std::string> Performances::of(std::size_t number) {
  if (std::erase(planned_, number) != 0 || (!running_.contains(number) && !ended_.contains(number)))
    start(number);
  while (!ended_.contains(number)) {
    start_planned();
    wait();
  }
  return ended_.extract(number).mapped();
}

void Performances::start(std::size_t number) {
  std::array<int, 2> ends{};
  require(::pipe(ends.data()) == 0, "no pipe");
  const pid_t process = ::fork();
  require(process >= 0, "no process");
  if (process == 0) {
    (void)::close(ends[0]);
    report_to = ends[1];
    tell_when_stopped();
    std::string text;
    for (const std::string& line : perform(number)) text += line + "\n";
    write_all(ends[1], text);
    ::_exit(0);
  }
  (void)::close(ends[1]);
  running_[number] = {.process = process,
                      .pipe = ends[0],
                      .slow = scenarios()[number].slow,
                      .deadline = std::chrono::steady_clock::now() + kPatience};
}

void Performances::start_planned() {
  auto busy =
      std::ranges::count(running_, false, [](const auto& each) { return each.second.slow; });
  for (; busy < kAtOnce && !planned_.empty(); ++busy) {
    start(planned_.front());
    planned_.pop_front();
  }
}

void Performances::wait() {
  std::vector<pollfd> entries;
  std::vector<std::size_t> numbers;
  auto first = std::chrono::steady_clock::time_point::max();
  for (const auto& [number, each] : running_) {
    entries.push_back({each.pipe, POLLIN, 0});
    numbers.push_back(number);
    first = std::min(first, each.deadline);
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      first - std::chrono::steady_clock::now());
  const int patience = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  (void)::poll(entries.data(), entries.size(), patience);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Running& running = running_[numbers[i]];
    const bool over = read_what_came(running.pipe, running.text);
    if (over || std::chrono::steady_clock::now() >= running.deadline) {
      end(numbers[i], running, over);
      running_.erase(numbers[i]);
    }
  }
}

void Performances::end(std::size_t number, Running& running, bool in_time) {
  if (!in_time) {
    (void)::kill(running.process, SIGTERM);
    running.text += rest_of(running.pipe);
    (void)::kill(running.process, SIGKILL);
  }
  (void)::close(running.pipe);
  int status = 0;
  (void)::waitpid(running.process, &status, 0);
  std::vector<std::string> lines = lines_of(running.text);
  if (!in_time) {
    lines.emplace_back("it does not end");
  } else if (status != 0) {
    lines.emplace_back("it crashes");
  }
  ended_[number] = std::move(lines);
}

}  // namespace anyrdma::conformance
