// A kernel and us on one wire: the server is Linux with its Soft-RoCE, the client our own stack,
// RoCEv2 over UDP sockets in a network namespace of its own at the other end of a veth pair. Runs
// in the machine of tools/vm, which wire_machine.sh has prepared.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "tests/conformance/backends/realtime.h"
#include "transport/ucma/ucma.h"
#include "transport/udp/udp.h"
#include "verbs/assert.h"

namespace anyrdma::conformance {
namespace {

using transport::ucma::Ucma;
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
    CM_ASSERT(!"more performances at once than clients");
    std::abort();
  }
};

class WireBackend final : public RealtimeBackend {
 public:
  transport::Transport& transport(Side side) override {
    return side == Side::kPassive ? server_->transport() : client_.udp->transport();
  }

  std::string address(Role role) override {
    if (role == Role::kClient) return client_.address;
    static const std::map<Role, std::string> kAddresses = {
        {Role::kServer, "10.9.0.1"},     {Role::kServerOther, "10.9.0.3"},
        {Role::kNobody, "10.9.0.77"},    {Role::kDeaf, "10.9.0.9"},
        {Role::kNowhere, "203.0.113.5"}, {Role::kForeign, "203.0.113.6"}};
    return kAddresses.at(role);
  }

 private:
  std::unique_ptr<Ucma> server_ = Ucma::open().value();
  Client client_ = Client::open();
};

}  // namespace

std::string_view backend_name() {
  return "wire";
}

// Nothing is opened here: performances are forked, and the kernel takes no commands over a parent's
// descriptors (EACCES).
std::string prepare_process() {
  return std::filesystem::exists("/sys/class/infiniband/rxe0") ? ""
                                                               : "there is no Soft-RoCE device";
}

std::unique_ptr<Backend> make_backend(unsigned) {
  return std::make_unique<WireBackend>();
}

}  // namespace anyrdma::conformance
