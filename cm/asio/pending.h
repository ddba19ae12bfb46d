// Lists the operations that wait for an event, for each execution context of their handlers. When
// the context is destroyed, it destroys its operations, as an io_context does with operations on
// sockets. Internal to cm/asio.
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
  /// Frees the operation without calling its handler.
  virtual void destroy() noexcept = 0;

 protected:
  ~PendingOperation() override = default;
};

/// The Asio service that owns the waiting operations of one execution context. All functions may be
/// called from any thread.
class PendingOperations final : public boost::asio::execution_context::service {
 public:
  using key_type = PendingOperations;
  static boost::asio::execution_context::id id;

  explicit PendingOperations(boost::asio::execution_context& context) : service(context) {}

  void keep(PendingOperation& operation);
  /// Takes the operation out of the list. False: the execution context is being destroyed, and
  /// destroys the operation itself.
  [[nodiscard]] bool let_go(PendingOperation& operation);

 private:
  void shutdown() override;

  std::mutex mutex_;
  boost::intrusive::list<PendingOperation, boost::intrusive::base_hook<PendingHook>> kept_;
};

}  // namespace anyrdma::cm
