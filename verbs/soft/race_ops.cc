// The data path of a program built with -fsanitize=thread: the operations that would be there
// otherwise, between a word to Races about what is posted and one about what has completed.
#include <execinfo.h>

#include <array>
#include <span>

#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/races.h"
#include "verbs/soft/shared_receive_queue.h"

namespace anyrdma::verbs::soft {
namespace {

/// The program's frames behind those of this file.
class Stack {
 public:
  Stack() : size_(::backtrace(frames_.data(), static_cast<int>(frames_.size()))) {}
  [[nodiscard]] std::span<void* const> frames() const {
    constexpr int kOurs = 2;
    const auto all = std::span<void* const>(frames_).first(static_cast<std::size_t>(size_));
    return size_ > kOurs ? all.subspan(kOurs) : all;
  }

 private:
  std::array<void*, 64> frames_{};
  int size_;
};

/// One request after the other, so that it is known which of them was refused.
template <class Request, class Post, class Posting, class Refused>
[[gnu::noinline]] int post_each_watched(Core& core, Request* request, Request** bad, Post post,
                                        Posting posting, Refused refused) {
  const Stack stack;
  for (; request != nullptr; request = request->next) {
    Request one = *request;
    one.next = nullptr;
    {
      const CriticalSection section(core.runtime);
      posting(*request, stack.frames());
    }
    Request* unused = nullptr;
    const int error = post(&one, &unused);
    if (error == 0) continue;
    *bad = request;
    const CriticalSection section(core.runtime);
    refused();
    return error;
  }
  return 0;
}

int watched_post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
  auto& soft = *static_cast<SoftQp*>(qp);
  const auto& replaced = SoftContext::from(qp->context).unwatched;
  Races& races = *soft.core.races;
  return post_each_watched(
      soft.core, request, bad,
      [&](ibv_send_wr* one, ibv_send_wr** failed) { return replaced.post_send(qp, one, failed); },
      [&](const ibv_send_wr& one, std::span<void* const> stack) {
        races.on_posting(soft, one, stack);
      },
      [&] { races.on_refused_send(soft); });
}

int watched_post_recv(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
  auto& soft = *static_cast<SoftQp*>(qp);
  const auto& replaced = SoftContext::from(qp->context).unwatched;
  Races& races = *soft.core.races;
  return post_each_watched(
      soft.core, request, bad,
      [&](ibv_recv_wr* one, ibv_recv_wr** failed) { return replaced.post_recv(qp, one, failed); },
      [&](const ibv_recv_wr& one, std::span<void* const> stack) {
        races.on_posting(soft, one, stack);
      },
      [&] { races.on_refused_receive(qp, nullptr); });
}

int watched_post_srq_recv(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr** bad) {
  SoftContext& context = SoftContext::from(srq->context);
  Races& races = *context.core().races;
  return post_each_watched(
      context.core(), request, bad,
      [&](ibv_recv_wr* one, ibv_recv_wr** failed) {
        return context.unwatched.post_srq_recv(srq, one, failed);
      },
      [&](const ibv_recv_wr& one, std::span<void* const> stack) {
        races.on_posting(*static_cast<SoftSrq*>(srq), one, stack);
      },
      [&] { races.on_refused_receive(nullptr, srq); });
}

int watched_poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
  SoftContext& context = SoftContext::from(cq->context);
  const int got = context.unwatched.poll_cq(cq, count, completions);
  if (got <= 0) return got;
  const CriticalSection section(context.core().runtime);
  for (int i = 0; i < got; ++i) context.core().races->on_polled(completions[i]);
  return got;
}

}  // namespace

void install_race_operations(SoftContext& context) {
  ibv_context_ops& ops = context.ibv()->ops;
  context.unwatched = ops;
  ops.poll_cq = watched_poll_cq;
  ops.post_send = watched_post_send;
  ops.post_recv = watched_post_recv;
  ops.post_srq_recv = watched_post_srq_recv;
}

}  // namespace anyrdma::verbs::soft
