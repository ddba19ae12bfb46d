// Posts a list of work requests, one after another.
#pragma once

namespace anyrdma::verbs::soft {

/// Calls `post` with each request of a list until one fails; then `*bad` points to that request.
/// Returns 0 or the errno of the failed request, as ibv_post_send does.
template <class Request, class Post>
[[nodiscard]] int post_each(Request* request, Request** bad, Post post) {
  for (; request != nullptr; request = request->next) {
    const int error = post(*request);
    if (error == 0) continue;
    *bad = request;
    return error;
  }
  return 0;
}

}  // namespace anyrdma::verbs::soft
