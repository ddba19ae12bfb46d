#include "sim/check/leaks.h"

namespace anyrdma::sim::check {
namespace {

constexpr std::string_view kLeaks = "leaks";

}  // namespace

void Leaks::on_device_end(const std::string& device, const verbs::soft::Census& census) {
  const auto none_of = [&](std::size_t count, const char* what) {
    if (count == 0) return;
    violations_.add(kLeaks,
                    device + ": " + std::to_string(count) + " " + what + " never destroyed");
  };
  none_of(census.queue_pairs, "queue pairs");
  none_of(census.completion_queues, "completion queues");
  none_of(census.completion_channels, "completion channels");
  none_of(census.memory_windows, "memory windows");
  none_of(census.device_memories, "device memories");
  none_of(census.memory_regions, "memory regions");
  none_of(census.protection_domains, "protection domains");
  none_of(census.address_handles, "address handles");
  none_of(census.shared_receive_queues, "shared receive queues");
  none_of(census.extended_domains, "extended connection domains");
  none_of(census.thread_domains, "thread domains");
  none_of(census.opened_queue_pairs, "opened names of queue pairs");
}

void Leaks::on_channels_end(const std::string& host, int channels) {
  if (channels == 0) return;
  violations_.add(kLeaks,
                  host + ": " + std::to_string(channels) + " event channels never destroyed");
}

void Leaks::on_timers(const std::string& device, std::uint32_t qp,
                      const verbs::soft::QpCensus& census) {
  const bool sends = census.state == IBV_QPS_RTS || census.state == IBV_QPS_SQD;
  if (census.timers == 0 || sends) return;
  violations_.add(kLeaks, device + " QP " + std::to_string(qp) + ": " +
                              std::to_string(census.timers) + " timers armed in state " +
                              std::to_string(census.state));
}

void Leaks::on_timers(const std::string& device, std::size_t armed, std::size_t owned) {
  if (armed == owned) return;
  violations_.add(kLeaks, device + ": " + std::to_string(armed) + " timers armed, of which " +
                              std::to_string(owned) + " have an owner");
}

}  // namespace anyrdma::sim::check
