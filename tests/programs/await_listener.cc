// await_listener FABRIC tcp|udp|ib ADDRESS PORT: ends as soon as a process of that fabric listens
// on that IPv4 address (or on the wildcard) and port of that RDMA port space, with status 1 when
// none does within a minute.
#include <arpa/inet.h>
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "transport/fabric/error.h"
#include "transport/fabric/registry.h"
#include "transport/fabric/system_random.h"

namespace {

using namespace anyrdma::transport;  // NOLINT: this program is about nothing else

bool await(fabric::Registry& registry, rdma_port_space space, const soft::Address& wanted) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!registry.listener(space, wanted)) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    ::sched_yield();
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  in_addr address{};
  if (argc != 5 || inet_pton(AF_INET, argv[3], &address) != 1) return 2;
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[4]));
  fabric::FabricConfig config;
  config.name = argv[1];
  fabric::SystemRandom random;
  auto registry = fabric::Registry::join(config, random);
  if (!registry) {
    std::fprintf(stderr, "%s\n", fabric::explain(registry.error(), config).c_str());
    return 1;
  }
  const std::string_view name = argv[2];
  const auto space = name == "udp" ? RDMA_PS_UDP : name == "ib" ? RDMA_PS_IB : RDMA_PS_TCP;
  return await(**registry, space, soft::Address::ipv4(ntohl(address.s_addr), port)) ? 0 : 1;
}
