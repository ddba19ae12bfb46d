#include "transport/ucma/ucma.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "transport/realtime/cancellation.h"
#include "transport/realtime/fork_guard.h"
#include "transport/ucma/driver.h"
#include "transport/ucma/system.h"
#include "transport/ucma/transport.h"

namespace anyrdma::transport::ucma {
namespace {

using boost::system::error_code;

/// What librdmacm leaves in errno when a special file cannot be opened, or resources have run out.
error_code opening_error(const error_code& error) {
  switch (error.value()) {
    case ENOENT:
    case ENXIO:
      return UcmaErrc::kNoModule;
    case EACCES:
    case EPERM:
      return UcmaErrc::kNoPermission;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return UcmaErrc::kNoResources;
    default:
      return error;
  }
}

/// The libraries do not say so: they look for other files then, and report that there is none.
bool is_forbidden(const std::string& special_file) {
  const std::string path = "/dev/infiniband/" + special_file;
  return ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) != 0 && errno == EACCES;
}

/// Why librdmacm knows no device that can be used.
error_code lack_of_devices(System& system, int error) {
  if (error == EPERM) return UcmaErrc::kOtherAbi;  // L/cma.c:ucma_init
  const auto devices = system.provider.devices();
  if (devices.empty()) return UcmaErrc::kNoDevice;
  if (is_forbidden("rdma_cm") || is_forbidden(devices.front()->dev_name)) {
    return UcmaErrc::kNoPermission;
  }
  auto context = system.provider.open_device(devices.front());
  if (!context) return opening_error(context.error());
  (void)system.provider.close_device(*context).has_value();
  return UcmaErrc::kNoDevice;
}

class UcmaImpl final : public Ucma, private realtime::ForkGuarded {
 public:
  explicit UcmaImpl(System& system)
      : system_(system), transport_(system.cm, system.provider, driver_) {}
  ~UcmaImpl() override;

  [[nodiscard]] Result<void> start();
  Transport& transport() override { return transport_; }
  bool forked() const override { return forked_.load(std::memory_order_relaxed); }
  void retire() override;
  realtime::Epilogue& epilogue() override { return driver_.epilogue(); }

 private:
  void before_fork() override { driver_.before_fork(); }
  void after_fork_in_parent() override { driver_.after_fork_in_parent(); }
  void after_fork_in_child() override;

  System& system_;
  std::atomic<bool> forked_ = false;
  bool remembered_ = false;
  Driver driver_;
  UcmaTransport transport_;
};

Result<void> UcmaImpl::start() {
  const realtime::CancellationOff off;
  const auto no_forks = realtime::hold_off_forks();
  {
    const verbs::CriticalSection section(driver_);
    *system_.cm.errno_location() = 0;
    if (transport_.devices().empty()) {
      return lack_of_devices(system_, *system_.cm.errno_location());
    }
    if (auto opened = transport_.open(); !opened) return opening_error(opened.error());
  }
  if (auto started = driver_.start(transport_, transport_.fd()); !started) {
    return UcmaErrc::kNoResources;
  }
  realtime::remember(*this);
  remembered_ = true;
  return {};
}

void UcmaImpl::retire() {
  driver_.stop();
  const verbs::CriticalSection section(driver_);
  transport_.close();
}

UcmaImpl::~UcmaImpl() {
  driver_.stop();
  if (!remembered_) return;
  const auto no_forks = realtime::hold_off_forks();
  realtime::forget(*this);
}

void UcmaImpl::after_fork_in_child() {
  forked_.store(true, std::memory_order_relaxed);
  transport_.close();
  driver_.after_fork_in_child();
}

}  // namespace

Result<std::unique_ptr<Ucma>> Ucma::open(System& system) {
  auto ucma = std::make_unique<UcmaImpl>(system);
  if (Result<void> started = ucma->start(); !started) return started.error();
  return std::unique_ptr<Ucma>(std::move(ucma));
}

Result<std::unique_ptr<Ucma>> Ucma::open(const UcmaConfig& config) {
  auto system = system_in(config.library_directories);
  if (System** usable = std::get_if<System*>(&system)) return open(**usable);
  const bool missing =
      std::get<verbs::ibv::LoadFault>(system).kind == verbs::ibv::LoadFault::Kind::kMissing;
  return missing ? UcmaErrc::kNoLibrary : UcmaErrc::kTooOld;
}

}  // namespace anyrdma::transport::ucma
