// The power of a simulated host, and of its programs: on, paused, killed, off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/schedule/fiber.h"
#include "verbs/result.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

using verbs::Result;

class Host;

/// Do not call from the host's own programs.
class Power {
 public:
  explicit Power(Host& host) : host_(host) {}
  Power(const Power&) = delete;
  Power& operator=(const Power&) = delete;

  /// Cuts the power: the host's programs never run again, no packet leaves it, and the state of its
  /// kernel and devices is lost. Channels and ids that the test created itself no longer work:
  /// calls have no effect, and no event comes. `Host::transport()` returns a new transport.
  /// EALREADY: the host is off.
  [[nodiscard]] Result<void> crash();
  /// Kills the host's programs as SIGKILL does: they never run again, and the kernel closes their
  /// connections. Objects that the test created itself no longer work, as after crash().
  /// `Host::transport()` returns a new transport. The host stays on. EALREADY: the host is off or
  /// paused.
  [[nodiscard]] Result<void> kill();
  /// Kills one program: the `number`-th (from 1) of that name that was started by
  /// Host::spawn_process() or as a process. Other programs continue. EALREADY: the host is off or
  /// paused; ESRCH: no such program, or it has ended.
  [[nodiscard]] Result<void> kill_program(std::string_view name, std::uint32_t number);
  /// Starts the host with only its devices and addresses. If the host is on, it crashes first.
  void restart();
  /// Pauses the host like a virtual machine: its programs stop, its clock continues, and it queues
  /// a few packets; further packets are lost. EALREADY: the host is off or paused.
  [[nodiscard]] Result<void> pause();
  /// EALREADY: it is not paused.
  [[nodiscard]] Result<void> resume();
  /// Neither off nor paused.
  [[nodiscard]] bool running() const { return state_ == State::kOn; }
  [[nodiscard]] bool paused() const { return state_ == State::kPaused; }
  [[nodiscard]] bool off() const { return state_ == State::kOff; }
  /// Stops one program as SIGSTOP does, until resume_program(). The program is selected as in
  /// kill_program(), or all fibers named "host/name" are. The host and its devices continue.
  /// `thread`: the number of one thread of a process, from 1; 0: all threads except those of the
  /// simulated device. ESRCH: no such program; EALREADY: already stopped (or running), or the host
  /// is off.
  [[nodiscard]] Result<void> pause_program(std::string_view name, std::uint32_t number,
                                           std::uint32_t thread = 0);
  [[nodiscard]] Result<void> resume_program(std::string_view name, std::uint32_t number,
                                            std::uint32_t thread = 0);

 private:
  friend class Host;

  enum class State : std::uint8_t { kOn, kPaused, kOff };
  /// A packet that arrived while the host was paused. The host receives it after the pause.
  struct Waiting {
    std::size_t interface;
    const Host* from;
    verbs::soft::PacketPtr packet;
  };
  struct Startup {
    std::string name;
    std::function<void()> body;
    Ending ending;
  };

  /// Keeps a packet that arrives while the host does not run, or drops it.
  void receive_later(std::size_t interface, const Host& from, verbs::soft::PacketPtr packet);
  void end_programs();
  [[nodiscard]] Result<void> set_paused(std::string_view name, std::uint32_t number,
                                        std::uint32_t thread, bool paused);
  [[nodiscard]] Result<void> set_paused_fibers(std::string_view name, std::uint32_t number,
                                               bool paused);

  Host& host_;
  State state_ = State::kOn;
  std::vector<Waiting> waiting_;   ///< in the order of arrival
  std::vector<Startup> startups_;  ///< programs that every start of the host starts
};

}  // namespace anyrdma::sim
