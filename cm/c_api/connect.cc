// From listening to disconnecting.
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <span>

#include "cm/c_api/request_pace.h"
#include "cm/id.h"
#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

namespace anyrdma::c_api {
namespace {

using cm::Id;

// A length without data is that of none, as to librdmacm.
template <class Call>
int reject_by(rdma_cm_id* id, const void* private_data, std::uint8_t length, Call&& call) {
  if (id == nullptr) return fail(EINVAL);
  RequestPace::taken(id);
  return minus_one_on_error([&] {
    const auto* bytes = static_cast<const std::uint8_t*>(private_data);
    return call(Id::from(id), std::span(bytes, bytes == nullptr ? 0 : length));
  });
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;
using anyrdma::cm::Id;

extern "C" {

int rdma_listen(rdma_cm_id* id, int backlog) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).listen(backlog); });
}

int rdma_get_request(rdma_cm_id* listen, rdma_cm_id** id) {
  if (listen == nullptr || id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    auto request = Id::from(listen).get_request();
    if (!request) return request.error();
    *id = request->release()->raw();  // the application's, until it destroys it
    note_made(Inventory::Kind::kId, *id);
    return {};
  });
}

int rdma_connect(rdma_cm_id* id, rdma_conn_param* conn_param) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).connect(conn_param); });
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* conn_param) {
  if (id == nullptr) return fail(EINVAL);
  RequestPace::taken(id);
  return minus_one_on_error([&] { return Id::from(id).accept(conn_param); });
}

int rdma_establish(rdma_cm_id* id) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).establish(); });
}

int rdma_reject(rdma_cm_id* id, const void* private_data, std::uint8_t private_data_len) {
  return reject_by(id, private_data, private_data_len,
                   [](Id& rejected, auto data) { return rejected.reject(data); });
}

int rdma_reject_ece(rdma_cm_id* id, const void* private_data, std::uint8_t private_data_len) {
  return reject_by(id, private_data, private_data_len,
                   [](Id& rejected, auto data) { return rejected.reject_ece(data); });
}

int rdma_disconnect(rdma_cm_id* id) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).disconnect(); });
}

int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).notify(event); });
}

}  // extern "C"
