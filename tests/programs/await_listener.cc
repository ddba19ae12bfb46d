// await_listener FABRIC tcp|udp|ib ADDRESS PORT PID: ends as soon as a process of that fabric
// listens on that IPv4 address (or on the wildcard) and port of that RDMA port space; with status 1
// when none does within a minute, or when process PID ends.
#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "transport/fabric/rendezvous/error.h"
#include "transport/fabric/rendezvous/registry.h"
#include "transport/realtime/system_random.h"

namespace {

using namespace anyrdma::transport;  // NOLINT: this program is about nothing else

bool await(fabric::Registry& registry, rdma_port_space space, const soft::Address& wanted,
           pid_t process) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, process, 0)), POLLIN, 0};
  while (!registry.listener(space, wanted)) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    if (end.fd < 0 || ::poll(&end, 1, 0) != 0) return false;
    ::sched_yield();
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  in_addr address{};
  if (argc != 6 || inet_pton(AF_INET, argv[3], &address) != 1) return 2;
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[4]));
  fabric::FabricConfig config;
  config.name = argv[1];
  realtime::SystemRandom random;
  auto registry = fabric::Registry::join(config, random);
  if (!registry) {
    std::fprintf(stderr, "%s\n", fabric::explain(registry.error(), config).c_str());
    return 1;
  }
  const std::string_view name = argv[2];
  const auto space = name == "udp" ? RDMA_PS_UDP : name == "ib" ? RDMA_PS_IB : RDMA_PS_TCP;
  const auto wanted = soft::Address::ipv4(ntohl(address.s_addr), port);
  return await(**registry, space, wanted, std::atoi(argv[5])) ? 0 : 1;
}
