#include "tests/conformance/qp_state.h"

#include "tests/conformance/stage.h"

namespace anyrdma::conformance {
namespace {

constexpr Duration kPatienceForStates = 30s;

}  // namespace

bool leads_to_err(const ibv_wc& done, ibv_qp_type type) {
  return type == IBV_QPT_RC && done.status != IBV_WC_SUCCESS && done.status != IBV_WC_WR_FLUSH_ERR;
}

int query_qp_state(const Party& party, ibv_qp* qp, ibv_qp_state& state) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  const int error = party.calls().verbs.query_qp(qp, &attr, IBV_QP_STATE, &init);
  state = attr.qp_state;
  return error;
}

void await_qp_state(const Party& party, ibv_qp* qp, ibv_qp_state state) {
  const auto is_there = [&] {
    ibv_qp_state now{};
    return query_qp_state(party, qp, now) != 0 || now == state;
  };
  (void)party.stage().backend().wait_until(is_there, kPatienceForStates);
}

}  // namespace anyrdma::conformance
