// Records of a device's work, and the interface that receives them.
#pragma once

#include <cstdint>
#include <string_view>

namespace anyrdma::recording {

/// A queue pair has entered a state: "RTS"; "destroyed".
struct QueuePairState {
  std::uint32_t qp_num = 0;
  std::string_view state{};
};

/// Something was posted.
struct PostedWork {
  std::uint32_t qp_num = 0;      ///< 0: to a shared receive queue
  std::string_view operation{};  ///< "SEND", "RECV", "SRQ_RECV"
  std::uint64_t wr_id = 0;
  std::uint64_t bytes = 0;
};

/// A program took a completion.
struct TakenCompletion {
  std::uint32_t qp_num = 0;
  std::uint64_t wr_id = 0;
  std::uint64_t opcode = 0;  ///< of ibv_wc_opcode; 0 with an error, which leaves it undefined
  std::uint64_t status = 0;  ///< of ibv_wc_status
  std::uint64_t bytes = 0;   ///< 0 with an error
};

/// A device has raised an asynchronous event.
struct RaisedEvent {
  std::uint64_t type = 0;    ///< of ibv_event_type
  std::uint32_t qp_num = 0;  ///< 0: it is of none
};

/// Called by a WorkObserver, in the thread that does the work. Must not call the device.
class WorkSink {
 public:
  virtual ~WorkSink() = default;
  virtual void on_queue_pair(const QueuePairState& state) = 0;
  virtual void on_work(const PostedWork& work) = 0;
  virtual void on_completion(const TakenCompletion& completion) = 0;
  virtual void on_async(const RaisedEvent& event) = 0;
};

}  // namespace anyrdma::recording
