// What programs do to memory and queues that are not theirs at the time: the findings of devices,
// of fibers and of processes, for one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/options.h"
#include "verbs/runtime.h"

namespace anyrdma::sim {

/// One finding.
struct Mistake {
  std::string checker;  ///< its name in docs/checkers.md: "source"
  std::string program;  ///< "client/rping"; the host's name alone where no program is known
  bool remark = false;  ///< a correct program may do this
  std::string text;
  std::string stacks{};  ///< in lines, indented; empty: not wanted
};

/// Of one world.
class Mistakes {
 public:
  Mistakes(std::vector<Allowance> allowed, std::vector<std::string> denied)
      : allowed_(std::move(allowed)), denied_(std::move(denied)) {}
  Mistakes(const Mistakes&) = delete;
  Mistakes& operator=(const Mistakes&) = delete;

  /// Gets the line and the stacks of each that is no remark, when it is found.
  using Listener = std::function<void(const std::string& line, const std::string& stacks)>;
  /// `listener` takes the place of the last one.
  void listen(Listener listener) { listener_ = std::move(listener); }
  /// A program's findings of one checker beyond the third are counted only.
  void add(Mistake mistake);

  /// A thread waits for acknowledgements that it owes itself. `thread` is unique in the world.
  void on_wait(const std::string& thread, Instant now, Mistake mistake);
  void on_wait_over(const std::string& thread) { waits_.erase(thread); }
  /// The threads whose names begin so have ended.
  void on_end(std::string_view threads);
  /// Nothing happens any more: these waits are for ever.
  void on_rest();
  /// Whether one has lasted so long that it will not end. Then it is a finding.
  [[nodiscard]] bool is_stuck(Instant now);

  /// "source: client/rping: ...", each with the lines of its stacks and the number of more.
  [[nodiscard]] std::string lines() const { return text_of(false); }
  /// Without those of `depth`, which say nothing about what has happened.
  [[nodiscard]] std::string remarks() const { return text_of(true); }
  [[nodiscard]] bool empty() const { return found_.empty(); }

 private:
  static constexpr std::size_t kTold = 3;
  struct Found {
    Mistake mistake;
    std::string line;
  };
  struct Wait {
    Instant since;
    Mistake mistake;
  };
  [[nodiscard]] bool is_allowed(std::string_view checker) const;
  [[nodiscard]] std::string text_of(bool remarks) const;

  std::vector<Allowance> allowed_;
  std::vector<std::string> denied_;
  Listener listener_;
  std::vector<Found> found_;
  std::map<std::pair<std::string, std::string>, std::size_t> counts_;  ///< by program and checker
  std::map<std::string, Wait, std::less<>> waits_;                     ///< by thread
};

/// What a call waits for: for ever, if its own thread owes it (verbs::Runtime::Owed). Else a
/// remark, since another thread may still be using the event.
[[nodiscard]] Mistake owed_mistake(const verbs::Runtime::Owed& owed, std::string program);

/// The names that an Allowance may have.
[[nodiscard]] bool is_ownership_checker(std::string_view name);
/// "source, target, ...".
[[nodiscard]] std::string ownership_checkers();

}  // namespace anyrdma::sim
