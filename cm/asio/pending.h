// Operations that wait for an event, by the execution context that their handlers belong to: it
// destroys them when it goes, as an io_context does with what waits for its sockets. Internal.
#pragma once

#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>
#include <mutex>

#include "cm/event_waiter.h"

namespace anyrdma::cm {

class PendingOperations;

using PendingHook = boost::intrusive::list_base_hook<boost::intrusive::tag<PendingOperations>>;

/// One waiting operation.
class PendingOperation : public EventWaiter, public PendingHook {
 public:
  /// Frees it without calling its handler.
  virtual void destroy() noexcept = 0;

 protected:
  ~PendingOperation() override = default;
};

/// The Asio service that keeps them. Threads: all functions from any.
class PendingOperations final : public boost::asio::execution_context::service {
 public:
  using key_type = PendingOperations;
  static boost::asio::execution_context::id id;

  explicit PendingOperations(boost::asio::execution_context& context) : service(context) {}

  void keep(PendingOperation& operation);
  /// False: the context is going, and destroys the operation itself.
  [[nodiscard]] bool let_go(PendingOperation& operation);

 private:
  void shutdown() override;

  std::mutex mutex_;
  boost::intrusive::list<PendingOperation, boost::intrusive::base_hook<PendingHook>> kept_;
};

}  // namespace anyrdma::cm
