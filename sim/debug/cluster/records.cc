// What gdb's user gets from the recording of the run: lists, and the way to a record.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "recording/view/story.h"
#include "sim/debug/cluster/cluster.h"
#include "sim/programs/process/thread.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/world.h"

namespace anyrdma::sim::debug {

recording::Story Cluster::story_so_far() const {
  recording::Told told = recording::tell(tape_->bytes());
  return told.story ? std::move(*told.story) : recording::Story{};
}

std::string Cluster::go_to(const Destination& to) {
  World& world = sandbox_->world();
  if (std::holds_alternative<AtFailure>(to)) {
    next_goal_ = Goal::kFailure;
    return "`continue` stops where the run fails\n";
  }
  if (const auto* const record = std::get_if<AtRecord>(&to)) {
    if (story_ && record->number >= story_->records.size()) return no_record(record->number);
    record_ = record->number;
    next_goal_ = Goal::kSurvey;
    return "`continue` stops before record " + std::to_string(*record_) +
           ", in a new run of the trial\n";
  }
  time_ = verbs::Instant{} + std::get<AtMoment>(to).time;
  doers_ = {};
  record_.reset();
  last_run_.reset();
  next_goal_ = Goal::kTime;
  return "`continue` stops at " + seconds_text(time_.time_since_epoch()) + " s" +
         (time_ <= world.now() ? ", in a new run of the trial\n" : "\n");
}

std::string Cluster::no_record(std::uint64_t number) const {
  return "there is no record " + std::to_string(number) + ": the run has " +
         std::to_string(story_->records.size()) + ", numbered from 0\n";
}

/// Numbers of records are known when the run is over.
void Cluster::go_to_record() {
  if (!story_) return run_again(Goal::kSurvey);
  if (*record_ >= story_->records.size()) {
    news_ = no_record(*record_);
    return run_again(Goal::kBegin);
  }
  time_ = verbs::Instant{} + story_->records[*record_].time;
  doers_ = doers_of(*story_, *record_);
  last_run_.reset();
  run_again(Goal::kTime);
}

/// At the end of a run that did not come to where it was to stop. True: another run is to.
bool Cluster::looks_further() {
  if (goal_ == Goal::kSurvey) {
    story_ = story_so_far();
    go_to_record();
  } else if (goal_ == Goal::kTime && doer_runs_ != 0 && !last_run_) {
    stop_before_record(doer_runs_);
  }
  return again_;
}

/// The record came when the thread had gone on for the `run`-th time: stops there, in a new run.
void Cluster::stop_before_record(std::uint64_t run) {
  last_run_ = run;
  run_again(Goal::kTime);
}

programs::Thread* Cluster::first_doer() {
  for (const ThreadEntry& each : threads()) {
    if (!doers_.name.empty() && doers_.include(each.name)) return find(each.id);
  }
  return nullptr;
}

std::string Cluster::add_fault(std::string_view action) {
  if (sim::FaultPlan::parse(action))
    return "fault: name the action alone, as in 'cut client->server': it happens now\n";
  World& world = sandbox_->world();
  const auto plan =
      sim::FaultPlan::parse("at " + std::to_string(world.now().time_since_epoch().count()) +
                            "ns: " + std::string(action));
  if (!plan) return "fault: " + plan.error().reason + "\n";
  if (const auto injected = world.faults().inject(*plan); !injected)
    return "fault: " + injected.error().reason + "\n";
  has_left_path_ = true;
  return "it happens when the programs go on. The run leaves its recorded path: `reverse-` "
         "commands and `monitor goto` to an earlier moment run the trial again, without this "
         "fault\n";
}

std::string Cluster::write_recording(const std::string& path) const {
  const std::vector<std::uint8_t> bytes = tape_->bytes();
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush())
    return "record: '" + path + "' cannot be written: " + std::strerror(errno) + "\n";
  return "the run up to now is recorded in '" + path + "'\n";
}

}  // namespace anyrdma::sim::debug
