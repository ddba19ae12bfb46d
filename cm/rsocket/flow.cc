#include "cm/rsocket/flow.h"

#include <algorithm>

namespace anyrdma::rsocket {
namespace {

// A later part is copied while the HCA sends an earlier one.
constexpr std::size_t kLargestTransfer = 64 * 1024;

}  // namespace

Flow::Flow(const Sizes& sizes)
    : sizes_(sizes),
      data_slots_(sizes.send_queue - kControlSlots),
      send_free_(sizes.send_buffer),
      credit_at_(static_cast<std::uint16_t>(sizes.receive_queue / 2)),
      granted_(half()),
      receive_free_(half()),
      grant_at_(half()) {}

void Flow::begin(const ConnectData& peer) {
  peer_ = peer;
  send_limit_ = peer.credits;
  if (peer.first.length != 0) targets_.push_back(peer.first);
  begun_ = true;
}

bool Flow::can_send() const {
  return data_slots_ > 0 && send_free_ > 0 && sent_ != send_limit_ && !targets_.empty();
}

Flow::Part Flow::take_part(std::size_t wanted) {
  const std::size_t length =
      std::min<std::size_t>({wanted, kLargestTransfer, send_free_, sizes_.send_buffer - send_at_});
  const Part part{.offset = send_at_, .length = static_cast<std::uint32_t>(length)};
  send_at_ = (send_at_ + part.length) % sizes_.send_buffer;
  send_free_ -= part.length;
  --data_slots_;
  return part;
}

Flow::Transfer Flow::take(std::size_t wanted) {
  Target& target = targets_.front();
  const Part part = take_part(std::min<std::size_t>(wanted, target.length));
  const Transfer transfer{.from = part,
                          .address = target.address,
                          .key = target.key,
                          .message = {.kind = Kind::kData, .value = part.length}};
  ++sent_;
  target.address += part.length;
  target.length -= part.length;
  if (target.length == 0) targets_.pop_front();
  return transfer;
}

Flow::Transfer Flow::take_write(std::size_t wanted) {
  const Part part = take_part(wanted);
  return {.from = part,
          .address = 0,
          .key = 0,
          .message = {.kind = Kind::kWrite, .value = part.length}};
}

void Flow::on_sent(std::uint32_t length) {
  send_free_ += length;
  ++data_slots_;
}

bool Flow::all_sent() const {
  return data_slots_ == sizes_.send_queue - kControlSlots && control_slots_ == kControlSlots;
}

bool Flow::on_target(const Target& target) {
  if (targets_.size() >= kTargets) return false;
  if (target.length != 0) targets_.push_back(target);
  next_target_ = (next_target_ + 1) % kTargets;
  return true;
}

bool Flow::on_data(std::uint32_t length) {
  if (length > granted_) return false;
  if (length == 0) {
    ++received_;
    return true;
  }
  granted_ -= length;
  arrived_.push_back(length);
  available_ += length;
  return true;
}

Flow::Part Flow::peek(std::size_t skipped, std::size_t wanted) const {
  if (skipped >= available_) return {};
  const auto at = static_cast<std::uint32_t>((read_at_ + skipped) % sizes_.receive_buffer);
  const std::size_t length = std::min<std::size_t>(
      {wanted, available_ - skipped, static_cast<std::size_t>(sizes_.receive_buffer - at)});
  return {.offset = at, .length = static_cast<std::uint32_t>(length)};
}

void Flow::consume(std::size_t length) {
  available_ -= length;
  receive_free_ += static_cast<std::uint32_t>(length);
  read_at_ = static_cast<std::uint32_t>((read_at_ + length) % sizes_.receive_buffer);
  while (!arrived_.empty() && arrived_.front() <= length) {
    length -= arrived_.front();
    arrived_.pop_front();
    ++received_;
  }
  if (length != 0) arrived_.front() -= static_cast<std::uint32_t>(length);
}

bool Flow::owes_credit() const {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(received_ - credit_at_)) >= 0;
}

std::optional<Flow::Update> Flow::next_update() {
  if (!begun_ || !can_control() || (receive_free_ < half() && !owes_credit())) return std::nullopt;
  take_control();
  credit_at_ = static_cast<std::uint16_t>(received_ + sizes_.receive_queue / 2);
  const auto limit = static_cast<std::uint16_t>(received_ + sizes_.receive_queue);
  Update update{.message = {.kind = Kind::kCredit, .value = limit}, .grant = std::nullopt};
  if (receive_free_ < half()) return update;
  // The half before the last granted one has been filled and read, so its entry is in no use.
  update.grant = {.of_receive_buffer = {.offset = grant_at_, .length = half()},
                  .address = peer_.targets.address + std::uint64_t{peer_entry_} * kTargetSize,
                  .key = peer_.targets.key};
  receive_free_ -= half();
  granted_ += half();
  grant_at_ = (grant_at_ + half()) % (2 * half());
  peer_entry_ = (peer_entry_ + 1) % peer_.targets.length;
  return update;
}

}  // namespace anyrdma::rsocket
