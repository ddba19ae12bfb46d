// Makes a Story (a recording for display) from the entries of a recording. Internal to
// recording/view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recording/reader.h"
#include "recording/view/story.h"

namespace anyrdma::recording {

/// Takes entries in their order. Call finish() once after the last entry. Any entry that a Reader
/// returns is safe.
class Narrator {
 public:
  void take(const Entry& entry);
  [[nodiscard]] Story finish(bool truncated);

 private:
  /// Identifies an id or a queue pair: its lane in the file, how often numbers began again before,
  /// and its number.
  using Numbered = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
  struct Message {
    std::size_t record;
    /// Lane of the file to which a copied message goes; nullopt: it was not copied.
    std::optional<std::uint64_t> copied_to;
  };
  /// A CM event that is not fetched, or not acknowledged.
  struct Pending {
    std::size_t record;
    std::uint64_t type;
    std::size_t owes;  ///< the lane of the id that counts the event as acknowledged
  };

  void on_about(const Entry& entry);
  void on_lane(const Entry& entry);
  void on_sent(const Entry& entry);
  void on_copied(const Entry& entry);
  void on_arrives(const Entry& entry);
  void on_lost(const Entry& entry);
  void on_ignored(const Entry& entry);
  void on_queued(const Entry& entry);
  void on_fetched(const Entry& entry);
  void on_acknowledged(const Entry& entry);
  void on_called(const Entry& entry);
  void on_posted(const Entry& entry);
  void on_completed(const Entry& entry);
  void on_async(const Entry& entry);
  void on_state(const Entry& entry);
  void on_waited(const Entry& entry);
  void on_fault(const Entry& entry);
  void on_struck(const Entry& entry);
  void on_note(const Entry& entry);
  void on_finding(const Entry& entry);
  void on_moment(const Entry& entry);
  void on_chosen(const Entry& entry);
  void on_end(const Entry& entry);
  void on_running(const Entry& entry);
  void take_of_id(const Entry& entry);

  Record& add(const Entry& entry, RecordKind kind, std::size_t lane);
  [[nodiscard]] std::size_t lane_at(std::uint64_t number) const { return lanes_[number]; }
  [[nodiscard]] std::size_t id_lane(std::uint64_t owner, std::uint64_t id);
  [[nodiscard]] std::size_t qp_lane(std::uint64_t owner, std::uint64_t number);
  [[nodiscard]] std::size_t add_lane(std::string of, std::string name,
                                     std::optional<std::size_t> in);
  [[nodiscard]] std::size_t here(std::uint64_t owner) const;
  [[nodiscard]] std::size_t any_lane();
  [[nodiscard]] std::size_t lane_named_in(std::string_view text);
  void find_repetitions();
  void name_unseen();
  void name_effects();
  void place_threads();
  void order();

  Story story_;
  std::vector<std::size_t> lanes_;  ///< the lane of the Story for each lane of the file
  std::map<std::uint64_t, std::uint64_t> generations_;
  std::map<Numbered, std::size_t> ids_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> qps_;
  std::vector<Message> messages_;
  std::map<std::size_t, std::deque<Pending>> queued_;   ///< by the id's lane
  std::map<std::size_t, std::deque<Pending>> fetched_;  ///< by the lane that owes
  std::map<std::pair<std::size_t, Duration>, std::size_t> waits_;
  std::vector<std::tuple<std::size_t, std::uint64_t, std::size_t>> given_;  ///< host, QP, id
  std::vector<std::optional<std::size_t>> last_in_;                         ///< record of each lane
  std::optional<std::size_t> running_;
  std::optional<std::size_t> last_fault_;
};

/// Sets the member `about` of each message: the lanes of the id and the queue pairs that the
/// message belongs to. `given` has host, queue pair number and id of each connect and accept.
void find_owners(Story& story,
                 const std::vector<std::tuple<std::size_t, std::uint64_t, std::size_t>>& given);

/// For each wait without an end, finds the event or completion that would have ended the wait, if
/// it is known.
void name_causes(Story& story);

/// Splits a text such as `REQ id=0x1 data="a b"` into its name and fields. The name is the words
/// before the first field.
[[nodiscard]] std::string split_text(std::string_view text, Fields& fields);

}  // namespace anyrdma::recording
