// The checker of requests that are posted again on another queue pair. A requester cannot tell a
// lost request from a lost acknowledgement, so a request that has failed may have been executed. If
// the same is posted again, on another rail for example, it takes effect twice.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check/stream.h"
#include "verbs/time.h"

namespace anyrdma::check {

/// Follows the requests that are not idempotent, over reliable connections: SEND, WRITE with
/// immediate, and atomic operations. Two requests of one program to one peer are the same if their
/// operation, length and digest are.
class Retried {
 public:
  /// The order in which the responder executes the requests of a stream counts within each class.
  enum class Effect : std::uint8_t {
    kMessage,  ///< uses a receive
    kAtomic,   ///< changes memory
  };
  /// A request that a program posted.
  struct Request {
    std::string operation{};
    std::uint64_t wr_id = 0;
    std::uint64_t length = 0;
    std::uint64_t digest = 0;  ///< of the bytes, or of the address and the operands
  };
  /// The queue pair and the time at which a request was posted.
  struct Where {
    std::string device{};
    std::uint32_t qp = 0;
    verbs::Instant at{};
  };
  struct Tracked;
  /// Null: a request that is not followed.
  using Handle = std::shared_ptr<Tracked>;

  /// One pair of requests that both took effect. A program whose messages have sequence numbers may
  /// do this on purpose.
  struct Remark {
    std::string program;
    std::string text;
  };

  /// The process or host that a connected queue pair belongs to.
  void on_end_point(const EndKey& end, const std::string& owner) { owners_[end] = owner; }
  void on_end_gone(const EndKey& end) { owners_.erase(end); }
  /// A queue pair begins to send. An earlier stream may have had the same name.
  void on_begin(const Stream& stream) { streams_[stream] = {}; }
  /// The requester's queue pair is gone. Requests of it may be executed later.
  void on_requester_gone(const Stream& stream);
  void on_responder_gone(const Stream& stream) { streams_.erase(stream); }
  /// A request was posted. `known`: its digest is.
  [[nodiscard]] Handle on_posted(const Stream& stream, Effect effect, const Request& request,
                                 const Where& where, bool known);
  /// It has succeeded: the program need not repeat it.
  void on_success(const Handle& request);
  /// It has failed, or its queue pair is gone: it was executed, or it was not.
  void on_unknown(const Handle& request);
  /// The responder has executed the stream's next request of that class.
  void on_executed(const Stream& stream, Effect effect);
  /// Nothing more is known of the stream, since completions of receives were lost.
  void on_lost_track(const Stream& stream);

  /// The remarks since the last call.
  [[nodiscard]] std::vector<Remark> take_remarks();

 private:
  /// The number of requests of unknown outcome that are kept.
  static constexpr std::size_t kRemembered = 256;
  struct Class {
    std::uint64_t posted = 0;
    std::uint64_t executed = 0;
    std::deque<Handle> waiting{};  ///< posted and not known to be executed, in order
  };
  struct Both {
    Class classes[2];
    bool lost = false;
  };
  void settle(Class& of);
  void note_executed(Tracked& request);
  void judge(const Tracked& first, const Tracked& again);

  std::map<EndKey, std::string> owners_;
  std::map<Stream, Both> streams_;
  std::deque<Handle> unknown_;
  std::vector<Remark> remarks_;
};

}  // namespace anyrdma::check
