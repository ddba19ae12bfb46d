#include "transport/fabric/fabric.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <utility>

#include "transport/fabric/driver.h"
#include "transport/fabric/host_network.h"
#include "transport/fabric/mesh.h"
#include "transport/fabric/registry.h"
#include "transport/realtime/cancellation.h"
#include "transport/realtime/fork_guard.h"
#include "transport/realtime/system_random.h"
#include "transport/soft/transport.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::fabric {
namespace {

// Nothing is lost between processes, so why in one of them: many ids may connect at once.
constexpr std::size_t kWaitingRequestsMax = 65536;
constexpr std::size_t kNameMax = 64;
constexpr std::size_t kGids = 16;
constexpr int kSlotAttempts = 16;

bool good_name(std::string_view name) {
  constexpr std::string_view kGood =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= kNameMax && name.front() != '.' &&
         name.find_first_not_of(kGood) == std::string_view::npos;
}

bool may_bind_low_ports() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return ::geteuid() == 0;
  return (data[0].effective & (1u << CAP_NET_BIND_SERVICE)) != 0;
}

soft::PortTableConfig port_rules() {
  soft::PortTableConfig config;
  config.privileged = may_bind_low_ports();
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  if (range >> first >> last && first != 0 && first <= last) {
    config.ephemeral_first = first;
    config.ephemeral_last = last;
  }
  return config;
}

MeshConfig mesh_config(const FabricConfig& config, const Registry& registry) {
  return {.uid = config.uid,
          .name = "anyrdma-" + std::to_string(config.uid) + "-" + config.name + "-" +
                  std::to_string(registry.place()),
          .self = registry.slot(),
          .incarnation = registry.incarnation()};
}

FabricErrc socket_error(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
      return FabricErrc::kNoResources;
    case EADDRINUSE:
      return FabricErrc::kTooManyProcesses;
    default:
      return FabricErrc::kNoSocket;
  }
}

class FabricImpl final : public Fabric, private realtime::ForkGuarded {
 public:
  explicit FabricImpl(const FabricConfig& config)
      : config_(config), network_(HostAddresses::read()) {}
  ~FabricImpl() override;

  [[nodiscard]] Result<void> join();
  Transport& transport() override { return *transport_; }
  bool forked() const override { return forked_.load(std::memory_order_relaxed); }
  void retire() override { driver_.retire(); }

 private:
  [[nodiscard]] Result<void> take_place();
  [[nodiscard]] Result<void> build();
  void before_fork() override { driver_.before_fork(); }
  void after_fork_in_parent() override { driver_.after_fork_in_parent(); }
  void after_fork_in_child() override;

  const FabricConfig config_;
  std::atomic<bool> forked_ = false;
  bool remembered_ = false;
  // In the order in which each needs those before it.
  realtime::SystemRandom random_;
  verbs::soft::PacketPool pool_;
  HostNetwork network_;
  Driver driver_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<verbs::soft::Hca> hca_;
  std::unique_ptr<soft::SoftTransport> transport_;
};

Result<void> FabricImpl::join() {
  const realtime::CancellationOff off;
  const auto no_forks = realtime::hold_off_forks();
  if (Result<void> placed = take_place(); !placed) return placed;
  if (Result<void> built = build(); !built) return built;
  realtime::remember(*this);
  remembered_ = true;
  return {};
}

/// A slot whose socket's name a stranger has is passed over.
Result<void> FabricImpl::take_place() {
  const soft::PortTableConfig rules = port_rules();
  int error = 0;
  for (int attempt = 0; attempt < kSlotAttempts; ++attempt) {
    auto registry = Registry::join(config_, random_, rules);
    if (!registry) return registry.error();
    auto mesh = Mesh::create(mesh_config(config_, **registry), pool_, driver_.receiver());
    if (mesh) {
      registry_ = std::move(*registry);
      mesh_ = std::move(*mesh);
      return {};
    }
    error = mesh.error().value();
    if (error != EADDRINUSE) break;
  }
  return socket_error(error);
}

Result<void> FabricImpl::build() {
  const Slot slot = registry_->slot();
  hca_ = verbs::soft::Hca::create(driver_, random_, pool_,
                                  {.qpn_first = first_qpn(slot), .qpn_count = kQpnCount});
  const std::vector<ibv_gid> gids = network_.gids(kGids);
  {
    const verbs::CriticalSection section(driver_);
    for (std::uint32_t i = 0; i < gids.size(); ++i) hca_->set_gid(i, gids[i]);
  }
  transport_ = soft::SoftTransport::create(driver_, random_, network_, *registry_,
                                           {.profile = config_.profile,
                                            .comm_id_mask = kCommIdMask,
                                            .comm_id_tag = comm_id_tag(slot),
                                            .waiting_requests_max = kWaitingRequestsMax});
  network_.attach(*transport_);
  if (!transport_->add_device(*hca_, network_.interface())) return FabricErrc::kNoResources;
  {
    const verbs::CriticalSection section(driver_);
    driver_.attach({hca_.get(), transport_.get(), registry_.get(), mesh_.get(), &pool_});
  }
  if (!driver_.start()) return FabricErrc::kNoResources;
  return {};
}

FabricImpl::~FabricImpl() {
  retire();
  if (remembered_) {
    const auto no_forks = realtime::hold_off_forks();
    realtime::forget(*this);
  }
  driver_.detach();
}

void FabricImpl::after_fork_in_child() {
  forked_.store(true, std::memory_order_relaxed);
  driver_.after_fork_in_child();
}

}  // namespace

Result<std::unique_ptr<Fabric>> Fabric::open(const FabricConfig& config) {
  if (!good_name(config.name)) return FabricErrc::kBadName;
  if (config.uid != ::geteuid()) return FabricErrc::kWrongUser;
  auto fabric = std::make_unique<FabricImpl>(config);
  if (Result<void> joined = fabric->join(); !joined) return joined.error();
  return std::unique_ptr<Fabric>(std::move(fabric));
}

}  // namespace anyrdma::transport::fabric
