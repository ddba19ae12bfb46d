#include "sim/programs/kernel/terminals.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sim/programs/kernel/kernel.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {

void Terminals::add(const Descriptor& master) {
  // O_PATH opens the name alone: as long as a real descriptor of the other end were open, a read of
  // the master would not fail when the programs have closed theirs.
  Descriptor name(::ioctl(master.get(), TIOCGPTPEER, O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!name || ::fstat(name.get(), &status) != 0) return;
  const bool is_known = std::ranges::any_of(names_, [&status](const Descriptor& each) {
    struct stat known {};
    return ::fstat(each.get(), &known) == 0 && known.st_dev == status.st_dev &&
           known.st_ino == status.st_ino && known.st_nlink != 0;
  });
  if (!is_known) names_.push_back(std::move(name));
}

bool Terminals::note_hangups() {
  return std::erase_if(names_, [](const Descriptor& each) {
           struct stat status {};
           return ::fstat(each.get(), &status) != 0 || status.st_nlink == 0;
         }) != 0;
}

bool is_terminal(const Descriptor& descriptor) {
  return ::isatty(descriptor.get()) == 1;
}

bool has_hung_up(const Descriptor& descriptor) {
  return ::isatty(descriptor.get()) == 0 && errno == EIO;
}

Outcome on_terminal_control(Thread& thread, const Call& call) {
  if (call.arguments[1] != TIOCSPTLCK) {
    thread.supervisor().expect_signals();
    return Outcome::made();
  }
  const Descriptor master = thread.borrow(static_cast<int>(call.arguments[0]));
  if (master) thread.supervisor().kernel().terminals.add(master);
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
