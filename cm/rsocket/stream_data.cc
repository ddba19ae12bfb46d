// How a stream sends and receives bytes.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cm/rsocket/stream.h"

namespace anyrdma::rsocket {
namespace {

/// Walks through the bytes of several ranges.
class Walk {
 public:
  explicit Walk(std::span<const iovec> ranges) : ranges_(ranges) { skip_empty(); }
  [[nodiscard]] bool is_at_end() const { return ranges_.empty(); }
  /// What is left of the current range.
  [[nodiscard]] std::span<std::byte> rest() const {
    const iovec& range = ranges_.front();
    return std::span(static_cast<std::byte*>(range.iov_base), range.iov_len).subspan(done_);
  }
  void advance(std::size_t length) {
    done_ += length;
    passed_ += length;
    skip_empty();
  }
  [[nodiscard]] std::size_t passed() const { return passed_; }

 private:
  void skip_empty() {
    while (!ranges_.empty() && done_ == ranges_.front().iov_len) {
      ranges_ = ranges_.subspan(1);
      done_ = 0;
    }
  }
  std::span<const iovec> ranges_;
  std::size_t done_ = 0;
  std::size_t passed_ = 0;
};

}  // namespace

Result<void> Stream::wait_until_open(Lock& lock, int flags) {
  if (is_opening()) {
    const auto waited = wait(lock, may_wait(flags), std::nullopt, [this] { return !is_opening(); });
    if (!waited) return waited;
  }
  if (phase_ == Phase::kConnected) return {};
  const int error = take_error();
  return errno_code(error != 0 ? error : ENOTCONN);
}

Result<Stream::Go> Stream::wait_to_post(Lock& lock, int flags, std::size_t sent,
                                        const std::function<bool()>& can_post) {
  const auto may_go_on = [&] {
    return !connection_->ends().writable || (connection_->send_mappings() && can_post());
  };
  if (!may_go_on()) {
    const auto waited = wait(lock, may_wait(flags), std::nullopt, may_go_on);
    if (!waited && sent == 0) return waited.error();
    if (!waited) return Go::kNoMore;
  }
  if (connection_->ends().writable) return Go::kOn;
  if (sent != 0) return Go::kNoMore;
  const int error = take_error();
  return errno_code(error != 0 ? error : connection_->ends().shut ? EPIPE : ECONNRESET);
}

Result<std::size_t> Stream::send(std::span<const iovec> data, int flags, const Name* to) {
  Lock lock(mutex_);
  if (to != nullptr) return errno_code(EISCONN);
  if (const auto open = wait_until_open(lock, flags); !open) return open.error();
  Walk walk(data);
  while (!walk.is_at_end()) {
    const auto go =
        wait_to_post(lock, flags, walk.passed(), [this] { return connection_->flow().can_send(); });
    if (!go) return go.error();
    if (*go == Go::kNoMore) break;
    walk.advance(connection_->send(walk.rest()));
  }
  return walk.passed();
}

Result<std::size_t> Stream::receive(std::span<const iovec> into, int flags, Name* from) {
  Lock lock(mutex_);
  if (from != nullptr) from->length = 0;
  if (const auto open = wait_until_open(lock, flags); !open) return open.error();
  Walk walk(into);
  std::size_t peeked = 0;
  while (!walk.is_at_end()) {
    const auto may_go_on = [this, peeked] {
      return connection_->flow().available() > peeked || !connection_->ends().readable;
    };
    if (!may_go_on()) {
      if (walk.passed() != 0 && (flags & MSG_WAITALL) == 0) {
        if (!connection_->process() || !may_go_on()) break;
      }
      const auto waited = wait(lock, may_wait(flags), std::nullopt, may_go_on);
      if (!waited) {
        if (walk.passed() != 0) break;
        return waited.error();
      }
    }
    const auto part = connection_->peek(peeked, walk.rest().size());
    if (part.empty()) break;
    std::memcpy(walk.rest().data(), part.data(), part.size());
    walk.advance(part.size());
    if ((flags & MSG_PEEK) != 0) {
      peeked += part.size();
    } else {
      connection_->consume(part.size());
    }
  }
  if (walk.passed() == 0 && !into.empty()) {
    const int error = take_error();
    if (error != 0 && !walk.is_at_end()) return errno_code(error);
  }
  return walk.passed();
}

}  // namespace anyrdma::rsocket
