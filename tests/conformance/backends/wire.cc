// A kernel and us on one wire: the server is Linux, the system's libraries over its Soft-RoCE, the
// client our own doors and stack, RoCEv2 over UDP sockets in a network namespace of its own at the
// other end of a veth pair. Runs in the machine of tools/vm, which wire_machine.sh has prepared.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "tests/conformance/backends/doors.h"
#include "tests/conformance/backends/machine.h"
#include "tests/conformance/require.h"
#include "transport/udp/udp.h"
#include "verbs/ibv/system_libraries.h"

namespace anyrdma::conformance {
namespace {

using transport::udp::Udp;
using transport::udp::UdpConfig;

/// Clients side by side have an address each: a UDP port is one process's.
constexpr int kClients = 16;
std::string client_address(int client) {
  return "10.9.0." + std::to_string(32 + client);
}

struct Client {
  std::unique_ptr<Udp> udp;
  std::string address;

  /// At the first address that nobody has.
  static Client open() {
    UdpConfig config;
    config.network_namespace = "/run/netns/peer";
    for (int client = 0; client < kClients; ++client) {
      config.addresses = {client_address(client)};
      auto opened = Udp::open(config);
      if (opened) return {std::move(*opened), config.addresses.front()};
    }
    require(false, "more performances at once than clients");
    std::abort();
  }
};

using verbs::ibv::SystemLibraries;

/// What a symbol is called with.
template <class Function>
void read(Function& to, void* symbol) {
  require(symbol != nullptr, "the system's library lacks a function");
  to = reinterpret_cast<Function>(symbol);
}

Calls load_system_calls() {
  const auto opened = SystemLibraries::open();
  require(opened.index() == 0, "no libraries of the system");
  const auto& system = std::get<SystemLibraries>(opened);
  Calls calls{};
  calls.errno_location = system.errno_location();
#define CONFORMANCE_READ(NAME, VERSION) \
  read(calls.cm.NAME, system.cm_symbol("rdma_" #NAME, VERSION));
  CONFORMANCE_CM_CALLS(CONFORMANCE_READ)
#undef CONFORMANCE_READ
#define CONFORMANCE_READ(NAME, VERSION) \
  read(calls.verbs.NAME, system.verbs_symbol("ibv_" #NAME, VERSION));
  CONFORMANCE_VERBS_CALLS(CONFORMANCE_READ)
#undef CONFORMANCE_READ
  read(calls.verbs.query_gid_ex, system.verbs_symbol("_ibv_query_gid_ex", "IBVERBS_1.11"));
  return calls;
}

/// Loaded at the first call, by a performance: its parent has nothing open.
const Calls& system_calls() {
  static const Calls kCalls = load_system_calls();
  return kCalls;
}

class WireBackend final : public MachineBackend {
 public:
  using MachineBackend::MachineBackend;
  ~WireBackend() override { doors::forget_the_buried(); }

  const Calls& calls(Side side) override {
    return side == Side::kPassive ? system_calls() : doors::enter(client_.udp->transport());
  }
  void end(Side side, rdma_event_channel* channel) override {
    if (side == Side::kPassive) {
      end_of_kernels(channel);
    } else {
      doors::end(channel);
    }
  }
  std::string address(Role role) override {
    return role == Role::kClient ? client_.address : MachineBackend::address(role);
  }

 private:
  Client client_ = Client::open();
};

}  // namespace

std::string_view backend_name() {
  return "wire";
}

std::unique_ptr<Backend> make_backend(unsigned number) {
  return std::make_unique<WireBackend>(number);
}

}  // namespace anyrdma::conformance
