// What `monitor` prints of the recording of a run that goes on, and which thread a record belongs
// to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "recording/view/story.h"

namespace anyrdma::sim::debug {

/// The threads in one of which a record happened, by the names that gdb shows.
struct Doers {
  std::string name{};   ///< of a thread, or of a program or host before the "/"; empty: any thread
  bool is_one = false;  ///< only the thread of that very name
  [[nodiscard]] bool include(std::string_view thread) const;
};
/// Returns the thread that made a record, such as a call. For a packet, an event or a state: the
/// thread that last did something with the same queue pair or id before; if there is none, all
/// threads of the process or host.
[[nodiscard]] Doers doers_of(const recording::Story& story, std::size_t record);
/// Whether a record of the whole run is in the recording of a run of the same trial that goes on.
[[nodiscard]] bool has_record(const recording::Story& so_far, const recording::Story& whole,
                              std::size_t record);

/// Returns a line for each id and each queue pair with its last state and since when.
[[nodiscard]] std::string objects_text(const recording::Story& story);
/// Returns the state of a queue pair, named "client#qp0x11" or "0x11", and its last `count`
/// records.
[[nodiscard]] std::string queue_pair_text(const recording::Story& story, const std::string& name,
                                          std::size_t count);
/// Returns the packets that are on their way at the time `now`, and the last `count` packets.
[[nodiscard]] std::string packets_text(const recording::Story& story, verbs::Duration now,
                                       std::size_t count);

}  // namespace anyrdma::sim::debug
