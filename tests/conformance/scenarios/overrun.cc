// More completions than their queue has room for.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kNarrow{.completions = 1};

}  // namespace

SCENARIO(overrun, is_none_as_long_as_one_polls) {
  Link link(stage, {}, kNarrow);
  for (int i = 0; i < 3; ++i) {
    link.passive.post_recv();
    link.active.post({.length = 1});
    link.active.take_send();
    link.passive.take_recv();
  }
}

SCENARIO(overrun, of_receives_is_announced) {
  Link link(stage, {}, kNarrow);
  for (int i = 0; i < 3; ++i) link.passive.post_recv();
  for (int i = 0; i < 3; ++i) link.active.post({.length = 1});
  link.passive.take_async();
}

SCENARIO(overrun, of_receives_ends_the_queue_pair) {
  Link link(stage, {.retry = 1}, kNarrow);
  for (int i = 0; i < 3; ++i) link.passive.post_recv();
  for (int i = 0; i < 3; ++i) link.active.post({.length = 1});
  link.passive.await_state(IBV_QPS_ERR);
  link.passive.note_qp();
}

}  // namespace anyrdma::conformance
