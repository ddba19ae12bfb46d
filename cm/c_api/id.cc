// Identifiers: life, options, channel.
#include <rdma/rdma_cma.h>

#include <memory>
#include <span>

#include "cm/c_api/request_pace.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

using namespace anyrdma::c_api;
using anyrdma::cm::EventChannel;
using anyrdma::cm::Id;

namespace {

Result<std::unique_ptr<Id>> create(rdma_event_channel* channel, rdma_port_space space,
                                   void* context) {
  if (channel != nullptr) {
    check_caller(EventChannel::from(channel).transport().runtime());
    return Id::create(EventChannel::from(channel), space, context);
  }
  const auto transport = process_transport();
  if (!transport) return transport.error();
  return Id::create_synchronous(**transport, space, context);
}

}  // namespace

extern "C" {

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space ps) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    auto created = create(channel, ps, context);
    if (!created) return created.error();
    *id = created->release()->raw();  // the application's, until it destroys it
    note_made(Inventory::Kind::kId, *id);
    return {};
  });
}

int rdma_destroy_id(rdma_cm_id* id) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] {
    check_caller(Id::from(id).runtime());
    RequestPace::taken(id);
    note_gone(id);
    return Id::destroy(std::unique_ptr<Id>(&Id::from(id)));
  });
}

int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] {
    if (channel == nullptr) return Id::from(id).make_synchronous();
    return Id::from(id).migrate(EventChannel::from(channel));
  });
}

int rdma_set_option(rdma_cm_id* id, int level, int optname, void* optval, std::size_t optlen) {
  if (id == nullptr) return fail(EINVAL);
  if (optval == nullptr && optlen != 0) return fail(EFAULT);  // K/ucma_set_option: memdup_user
  return minus_one_on_error([&] {
    const auto* bytes = static_cast<const std::uint8_t*>(optval);
    return Id::from(id).set_option(level, optname, std::span(bytes, optlen));
  });
}

}  // extern "C"
