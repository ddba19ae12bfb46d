// Ids in one call.
#include <rdma/rdma_cma.h>

#include <memory>

#include "cm/c_api/request_pace.h"
#include "cm/create_ep.h"
#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

using namespace anyrdma::c_api;
namespace cm = anyrdma::cm;

extern "C" {

int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* res, ibv_pd* pd,
                   ibv_qp_init_attr* qp_init_attr) {
  if (id == nullptr || res == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    const auto transport = process_transport();
    if (!transport) return transport.error();
    auto created = cm::create_ep(**transport, *res, pd, qp_init_attr);
    if (!created) return created.error();
    *id = created->release()->raw();  // the application's, until it destroys it
    note_made(Inventory::Kind::kId, *id);
    return {};
  });
}

void rdma_destroy_ep(rdma_cm_id* id) {
  if (id == nullptr) return;
  (void)minus_one_on_error([&] {
    check_caller(cm::Id::from(id).runtime());
    RequestPace::taken(id);
    note_gone(id);
    return cm::destroy_ep(std::unique_ptr<cm::Id>(&cm::Id::from(id)));
  });
}

}  // extern "C"
