#include "recording/work/ids.h"

#include <netinet/in.h>

#include <cstring>

#include "recording/packets/packet_fields.h"

namespace anyrdma::recording {
namespace {

constexpr std::uint64_t kOwnLane = 0;  // the sink knows it

std::uint64_t datagram(const rdma_cm_id& id) {
  return id.qp_type == IBV_QPT_UD ? 1 : 0;
}

}  // namespace

Addresses::Addresses(const rdma_addr& addresses) {
  put(addresses.src_storage);
  put(addresses.dst_storage);
}

void Addresses::put(const sockaddr_storage& address) {
  const auto copy = [this](const void* from, std::size_t size) {
    std::memcpy(bytes_.data() + size_, from, size);
    size_ += size;
  };
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    bytes_[size_++] = sizeof in.sin_addr;
    copy(&in.sin_port, sizeof in.sin_port);
    copy(&in.sin_addr, sizeof in.sin_addr);
  } else if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    bytes_[size_++] = sizeof in.sin6_addr;
    copy(&in.sin6_port, sizeof in.sin6_port);
    copy(&in.sin6_addr, sizeof in.sin6_addr);
  } else {
    bytes_[size_++] = 0;
    size_ += 2;
  }
}

void IdObserver::on_event(Step step, std::uint64_t id, std::uint64_t listener,
                          const rdma_cm_event& event) {
  const auto type = static_cast<std::uint64_t>(event.event);
  if (step == Step::kFetched) {
    if (event.event != RDMA_CM_EVENT_CONNECT_REQUEST || event.id == nullptr)
      return sink_.put(entry_of<EntryKind::kFetched>(kOwnLane, id, type, ""));
    return sink_.put(
        entry_of<EntryKind::kFetched>(kOwnLane, id, type, Addresses(event.id->route.addr).bytes()));
  }
  FieldWriter fields;
  put_parameters(fields, event);
  const std::uint64_t is_datagram = event.id == nullptr ? 0 : datagram(*event.id);
  sink_.put(entry_of<EntryKind::kQueued>(kOwnLane, id, listener, type, event.status, is_datagram,
                                         fields.bytes()));
}

void IdObserver::on_acknowledged(std::uint64_t id) {
  sink_.put(entry_of<EntryKind::kAcknowledged>(kOwnLane, id));
}

void IdObserver::on_call(std::uint64_t id, std::string_view call, int error) {
  sink_.put(
      entry_of<EntryKind::kCalled>(kOwnLane, id, call, static_cast<std::uint64_t>(error), 0u));
}

void IdObserver::on_refused(std::uint64_t id, std::string_view call, int error) {
  sink_.put(
      entry_of<EntryKind::kCalled>(kOwnLane, id, call, static_cast<std::uint64_t>(error), 1u));
}

void IdObserver::on_state(std::uint64_t id, std::string_view state) {
  sink_.put(entry_of<EntryKind::kIdState>(kOwnLane, id, state));
}

void IdObserver::on_handshake(std::uint64_t id, const rdma_cm_id& raw, std::string_view call,
                              const transport::ConnectionParameters& given) {
  sink_.put(entry_of<EntryKind::kGiven>(kOwnLane, id, call, given.qp_num, given.responder_resources,
                                        given.initiator_depth, datagram(raw),
                                        Addresses(raw.route.addr).bytes(), given.private_data));
}

}  // namespace anyrdma::recording
