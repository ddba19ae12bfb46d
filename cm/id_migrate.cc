// From one channel to another, and between synchronous and asynchronous (L/cma.c:rdma_migrate_id).
#include "cm/event_record.h"
#include "cm/id.h"

namespace anyrdma::cm {
namespace {

constexpr char kWaitsFor[] = "the acknowledgement of the events of an id that it migrates";

}  // namespace

Result<void> Id::migrate(EventChannel& channel) {
  if (&channel.transport() != &transport_) return verbs::errno_code(EINVAL);
  if (Result<void> moved = move_to(channel); !moved) return moved;
  private_channel_.reset();
  return drain(kWaitsFor);
}

Result<void> Id::make_synchronous() {
  if (private_channel_ != nullptr) return verbs::errno_code(EINVAL);
  auto own = PrivateChannel::create(transport_, raw_.id.event);
  if (!own) return own.error();
  if (Result<void> moved = move_to((*own)->channel()); !moved) return moved;
  private_channel_ = std::move(*own);
  return drain(kWaitsFor);
}

Result<void> Id::move_to(EventChannel& channel) {
  verbs::CriticalSection section(runtime());
  if (Result<void> legal = check(Call::kQuery); !legal) return legal;
  if (&channel == channel_) return {};
  EventQueue moved;
  channel_->extract(*this, nullptr, moved);
  leave_channel();
  join(channel);
  moved.clear_and_dispose([&](EventRecord* record) {
    if (record->request != nullptr) {
      record->request->leave_channel();
      record->request->join(channel);
    }
    channel.push(*record);
  });
  return {};
}

}  // namespace anyrdma::cm
