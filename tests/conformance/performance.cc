#include "tests/conformance/performance.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>

#include "verbs/assert.h"

namespace anyrdma::conformance {
namespace {

/// Longer than any scenario's own patience.
constexpr std::chrono::seconds kPatience{200};

void write_all(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(to, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

/// What comes until the other end is closed; false: it was not, in time.
bool read_all(int from, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::array<char, 4096> part{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd entry{from, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) != 1) return false;
    const ssize_t length = ::read(from, part.data(), part.size());
    if (length <= 0) return true;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
}

}  // namespace

std::vector<std::string> perform(std::size_t number) {
  const std::unique_ptr<Backend> backend = make_backend(static_cast<unsigned>(number));
  Stage stage(*backend, static_cast<unsigned>(number));
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

void Performances::start(std::size_t number) {
  std::array<int, 2> ends{};
  CM_ASSERT(::pipe(ends.data()) == 0);
  const pid_t process = ::fork();
  CM_ASSERT(process >= 0);
  if (process == 0) {
    (void)::close(ends[0]);
    std::string text;
    for (const std::string& line : perform(number)) text += line + "\n";
    write_all(ends[1], text);
    ::_exit(0);
  }
  (void)::close(ends[1]);
  running_[number] = {.process = process, .pipe = ends[0]};
}

std::vector<std::string> Performances::of(std::size_t number) {
  if (!running_.contains(number)) start(number);
  const Running running = running_.extract(number).mapped();
  std::string text;
  const bool ended = read_all(running.pipe, text);
  (void)::close(running.pipe);
  if (!ended) (void)::kill(running.process, SIGKILL);
  int status = 0;
  (void)::waitpid(running.process, &status, 0);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  if (!ended) {
    lines.emplace_back("it does not end");
  } else if (status != 0) {
    lines.emplace_back("it crashes");
  }
  return lines;
}

}  // namespace anyrdma::conformance
