// The struct behind the application's ibv_context, with the queue of asynchronous events.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string_view>

#include "verbs/provider.h"
#include "verbs/runtime.h"
#include "verbs/soft/completion_queue.h"
#include "verbs/soft/ring.h"

namespace anyrdma::verbs::soft {

struct Core;
struct SoftQp;
class SoftSrq;

class SoftContext : public ProvidedContext {
 public:
  /// `ops` fills in the functions of the context's dispatch tables (context_ops.cc).
  SoftContext(Provider& provider, Core& core, ibv_device* device,
              std::unique_ptr<Semaphore> async_units);
  ~SoftContext();
  SoftContext(const SoftContext&) = delete;
  SoftContext& operator=(const SoftContext&) = delete;

  [[nodiscard]] static SoftContext& from(const ibv_context* context) {
    return static_cast<SoftContext&>(ProvidedContext::from(context));
  }
  [[nodiscard]] ibv_context* ibv() { return &vctx.context; }
  [[nodiscard]] Core& core() { return core_; }
  /// Chooses the functions of the data path for all contexts: plain functions, or functions that
  /// call the gate of a fault plan or an observer.
  void choose_operations();

  // --- asynchronous events; critical section ----------------------------------------------------
  void raise_cq(SoftCq& cq, ibv_event_type type);
  void raise_qp(SoftQp& qp, ibv_event_type type);
  void raise_srq(SoftSrq& srq, ibv_event_type type);
  void raise_port(std::uint8_t port, ibv_event_type type);
  /// Removes unread events of an object that is being destroyed.
  void forget_cq(const SoftCq& cq);
  void forget_qp(const SoftQp& qp);
  void forget_srq(const SoftSrq& srq);

  std::unique_ptr<Semaphore> async_units;  ///< one per event in `events`
  Ring<ibv_async_event> events;
  ibv_context_ops observed{};   ///< operations that the observing ones call after their report
  ibv_context_ops unwatched{};  ///< operations that those of Core::races call after their report

 private:
  void raise(const ibv_async_event& event);
  template <class Predicate>
  void forget(Predicate unwanted);

  Core& core_;
};

/// Returns the name of the event without prefix: "QP_FATAL".
[[nodiscard]] std::string_view event_name(ibv_event_type type);
/// Whether an event's element is a QP.
[[nodiscard]] bool is_qp_event(ibv_event_type type);
/// Whether an event's element is a shared receive queue.
[[nodiscard]] bool is_srq_event(ibv_event_type type);

/// Fills in context->ops and those extended operations that the software HCA supports.
void install_operations(verbs_context& context);
/// Each of these functions fills in a part of a context's extended operations: extended connections
/// (xrc_ops.cc), queue pairs with more attributes (create_qp_ex.cc), extended completion queues
/// (cq_ex.cc), parent and thread domains (parent_domain.cc), the clock (clock.cc).
void install_xrc_operations(verbs_context& context);
void install_qp_creation(verbs_context& context);
void install_cq_operations(verbs_context& context);
void install_domain_operations(verbs_context& context);
void install_clock(verbs_context& context);
void describe_clock(ibv_device_attr_ex& attr);
void describe_moderation(ibv_device_attr_ex& attr);
/// Fills in context->ops like install_operations(), with operations that first ask Core::gate, the
/// gate of a fault plan (gated_ops.cc).
void install_gated_operations(verbs_context& context);
/// Replaces the operations of a context by ones that report to Core::observer and then call the
/// replaced ones (observed_ops.cc).
void install_observed_operations(SoftContext& context);
/// Implements ibv_poll_cq.
[[nodiscard]] int poll_cq(ibv_cq* cq, int count, ibv_wc* completions);

}  // namespace anyrdma::verbs::soft
