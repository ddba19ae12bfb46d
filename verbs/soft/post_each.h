// A list of work requests, posted one after another.
#pragma once

namespace anyrdma::verbs::soft {

/// Calls `post` with each request until one is refused, which `*bad` then points to. Errno as
/// ibv_post_send and its like return it, 0 for success.
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
