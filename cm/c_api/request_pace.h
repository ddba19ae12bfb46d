// How fast connection requests are handed out.
#pragma once

#include <rdma/rdma_cma.h>

namespace anyrdma::c_api {

/// The kernel needs its time between two connection requests, and programs have come to count on
/// it: rping -P hands each new id to another thread through one variable and does not wait for it
/// to be taken, so that a burst of clients would overwrite ids which nobody has seen. Therefore a
/// thread that asks for the next event waits until somebody has begun to work on the request it got
/// before: a few milliseconds at most, but as long as the program's other threads want a processor
/// and have not had one for as much (see OtherThreads). A program that deals with a request before
/// it asks for more never waits. Threads: any.
class RequestPace {
 public:
  /// This thread has fetched a request for `id`.
  static void handed_out(const rdma_cm_id* id);
  /// Somebody works on `id`, or ends it.
  static void taken(const rdma_cm_id* id);
  /// This thread wants the next event. False: nobody has begun to work on its last request yet.
  static bool wait();
};

}  // namespace anyrdma::c_api
