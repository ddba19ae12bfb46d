// Limits how fast a thread can fetch connection requests.
#pragma once

#include <rdma/rdma_cma.h>

namespace anyrdma::c_api {

/// Programs rely on the time that the kernel needs between two connection requests. rping -P passes
/// each new id to another thread through one variable, without waiting; a burst of clients would
/// overwrite ids that this thread has not seen. Therefore a thread that fetches the next event
/// waits until the program uses the id of its last request. It waits a few milliseconds, or longer
/// while other threads of the program are runnable and have not run for that long (OtherThreads). A
/// program that handles a request before it fetches the next event never waits. Threads: any.
class RequestPace {
 public:
  /// Call when this thread has fetched a CONNECT_REQUEST, whose new id is `id`.
  static void handed_out(const rdma_cm_id* id);
  /// Call when the program uses `id`, or destroys it.
  static void taken(const rdma_cm_id* id);
  /// Call when this thread is about to fetch the next event: waits for a limited time until the
  /// program uses the id of the last request. False: the program has not used that id.
  static bool wait();
};

}  // namespace anyrdma::c_api
