#include "transport/open/fault_account.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/number.h"
#include "transport/realtime/system_random.h"

namespace anyrdma::transport {
namespace {

using fault::FaultStatus;
using realtime::Descriptor;
using realtime::SharedMemory;
using verbs::Result;

using Number = std::atomic<std::uint32_t>;
static_assert(Number::is_always_lock_free, "other processes count, too");

// What is in the memory: who it belongs to, how many have joined, and three numbers for each fault.
struct Head {
  std::uint64_t nonce = 0;
  Number processes{0};
};
struct Row {
  Number armed{0};
  Number fired{0};
  Number observed{0};
};

std::size_t size_for(std::size_t faults) {
  return sizeof(Head) + faults * sizeof(Row);
}

// Zeroes are what both are at the beginning.
Head& head_of(const SharedMemory& memory) {
  return *reinterpret_cast<Head*>(memory.bytes().data());
}

Row& row_of(const SharedMemory& memory, std::size_t index) {
  return reinterpret_cast<Row*>(memory.bytes().data() + sizeof(Head))[index];
}

/// Whose descriptor, which one, and what is at the beginning of what it leads to.
struct Name {
  std::uint64_t process = 0;
  std::uint64_t descriptor = 0;
  std::uint64_t nonce = 0;

  [[nodiscard]] std::string text() const {
    return std::to_string(process) + ":" + std::to_string(descriptor) + ":" + std::to_string(nonce);
  }
  [[nodiscard]] std::string path() const {
    return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  }
};

std::optional<Name> parse_name(std::string_view text) {
  Name name;
  for (std::uint64_t* number : {&name.process, &name.descriptor, &name.nonce}) {
    const auto taken = take_number<std::uint64_t>(text);
    if (!taken) return std::nullopt;
    *number = *taken;
    const bool last = number == &name.nonce;
    if (last != text.empty() || (!last && text.front() != ':')) return std::nullopt;
    if (!last) text.remove_prefix(1);
  }
  return name;
}

}  // namespace

FaultAccount::FaultAccount(SharedMemory memory, Descriptor held, std::size_t faults,
                           std::string name)
    : memory_(std::move(memory)), held_(std::move(held)), faults_(faults), name_(std::move(name)) {}

Result<std::unique_ptr<FaultAccount>> FaultAccount::create(std::size_t faults) {
  Descriptor held;
  auto memory = SharedMemory::create(size_for(faults), held);
  if (!memory) return memory.error();
  const std::uint64_t nonce = realtime::SystemRandom().next();
  head_of(*memory).nonce = nonce;
  const Name name{.process = static_cast<std::uint64_t>(::getpid()),
                  .descriptor = static_cast<std::uint64_t>(held.get()),
                  .nonce = nonce};
  return std::unique_ptr<FaultAccount>(
      new FaultAccount(std::move(*memory), std::move(held), faults, name.text()));
}

Result<std::unique_ptr<FaultAccount>> FaultAccount::attach(const std::string& text,
                                                           std::size_t faults) {
  const std::optional<Name> name = parse_name(text);
  if (!name) return verbs::errno_code(EINVAL);
  // Whatever else may have that number by now is not waited for.
  const Descriptor file(::open(name->path().c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return verbs::errno_code(errno);
  auto memory = SharedMemory::map(file.get(), size_for(faults));
  if (!memory) return memory.error();
  if (head_of(*memory).nonce != name->nonce) return verbs::errno_code(EINVAL);
  return std::unique_ptr<FaultAccount>(
      new FaultAccount(std::move(*memory), Descriptor(), faults, text));
}

void FaultAccount::join() {
  ++head_of(memory_).processes;
}

std::uint32_t FaultAccount::processes() const {
  return head_of(memory_).processes;
}

void FaultAccount::Share::count(std::size_t index, const FaultStatus& status) {
  Counts& before = counted_.at(index);
  Row& row = row_of(account_.memory_, index);
  const Counts now{status.armed, status.fired, status.observed};
  row.armed += now[0] - before[0];
  row.fired += now[1] - before[1];
  row.observed += now[2] - before[2];
  before = now;
}

std::vector<FaultStatus> FaultAccount::status(const fault::FaultPlan& plan) const {
  std::vector<FaultStatus> all;
  for (std::size_t i = 0; i < faults_; ++i) {
    FaultStatus status = fault::Arming(plan.faults.at(i)).status;
    const Row& row = row_of(memory_, i);
    status.armed = row.armed;
    status.fired = row.fired;
    status.observed = row.observed;
    all.push_back(std::move(status));
  }
  return all;
}

FaultReport report_of(const std::vector<FaultStatus>& faults, const std::string& seed,
                      std::uint32_t processes) {
  FaultReport report;
  report.text = "anyrdma: faults, seed " + seed;
  if (processes > 1) report.text += ", in " + std::to_string(processes) + " processes";
  report.text += ":\n";
  for (const FaultStatus& each : faults) {
    report.text += "  " + each.to_string() + "\n";
    report.missed |= each.fired == 0 && !each.fault.maybe;
  }
  if (processes == 0) report.text += "anyrdma: the program opened no RDMA device.\n";
  if (report.missed) {
    report.text += "anyrdma: a planned fault did not happen, so nothing was tested by it.\n";
  }
  return report;
}

}  // namespace anyrdma::transport
