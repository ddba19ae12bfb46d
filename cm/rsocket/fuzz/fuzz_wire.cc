#include "cm/rsocket/fuzz/fuzz_wire.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "cm/rsocket/datagram_wire.h"
#include "cm/rsocket/flow.h"
#include "cm/rsocket/wire.h"

namespace anyrdma::rsocket::fuzz {
namespace {

constexpr Sizes kSizes{
    .send_queue = 16, .receive_queue = 16, .send_buffer = 256, .receive_buffer = 128};

void require(bool holds) {
  if (!holds) std::abort();
}

/// Sends what can be sent, and checks that each transfer is in the send buffer.
void send_all(Flow& flow) {
  while (flow.can_send()) {
    const Flow::Transfer transfer = flow.take(100);
    require(transfer.from.length > 0 && transfer.from.length <= 100);
    require(transfer.from.offset + transfer.from.length <= kSizes.send_buffer);
    flow.on_sent(transfer.from.length);
  }
}

void read(Flow& flow, std::size_t wanted) {
  const Flow::Part part = flow.peek(0, wanted);
  require(part.offset + part.length <= kSizes.receive_buffer);
  if (part.length != 0) flow.consume(part.length);
  while (const auto update = flow.next_update()) {
    if (update->grant) {
      const Flow::Part& granted = update->grant->of_receive_buffer;
      require(granted.offset + granted.length <= kSizes.receive_buffer);
    }
    flow.on_control_sent();
  }
}

/// One message: four bytes of immediate data, and a target if the message is a credit.
std::size_t receive(Flow& flow, std::span<const std::byte> rest) {
  std::uint32_t immediate = 0;
  std::memcpy(&immediate, rest.data(), sizeof immediate);
  std::size_t used = sizeof immediate;
  const auto message = get_message(immediate);
  if (!message) return used;
  require(put_message(*message) == immediate);
  if (message->kind == Kind::kData) {
    (void)flow.on_data(message->value);
  } else if (message->kind == Kind::kCredit) {
    flow.on_credit(message->value);
    if (rest.size() >= used + kTargetSize && (message->value & 1) != 0) {
      const auto entry = rest.subspan(used).first<kTargetSize>();
      const Target target = get_target(entry, Order::kLittle);
      std::array<std::byte, kTargetSize> again{};
      put_target(target, Order::kLittle, again);
      require(std::ranges::equal(again, entry));
      (void)flow.on_target(target);
      used += kTargetSize;
    }
  }
  require(flow.available() <= kSizes.receive_buffer);
  return used;
}

/// Headers of datagrams are followed by the rest, and survive reading and writing.
void read_headers(std::span<const std::byte> packet) {
  for (const int family : {AF_INET, AF_INET6}) {
    const auto headed = get_udp_header(packet, family);
    if (!headed) continue;
    const auto again = put_udp_header(headed->header);
    require(again.size() + headed->data.size() == packet.size());
  }
  const auto headed = get_source(packet);
  if (!headed) return;
  require(std::ranges::equal(put_source(headed->header),
                             packet.first(packet.size() - headed->data.size())));
}

}  // namespace

int fuzz_wire(const std::uint8_t* data, std::size_t size) {
  std::span rest(reinterpret_cast<const std::byte*>(data), size);
  read_headers(rest);
  const auto peer = get_connect_data(rest);
  if (!peer) return 0;
  require(get_connect_data(put_connect_data(*peer)) == peer);
  Flow flow(kSizes);
  flow.begin(*peer);
  rest = rest.subspan(kConnectDataSize);
  while (rest.size() >= sizeof(std::uint32_t)) {
    const auto choice = std::to_integer<unsigned>(rest[0]);
    rest = rest.subspan(receive(flow, rest));
    if ((choice & 2) != 0) read(flow, choice);
    if ((choice & 4) != 0) send_all(flow);
  }
  return 0;
}

}  // namespace anyrdma::rsocket::fuzz
