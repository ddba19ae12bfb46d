#include "transport/open/recorded.h"

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "recording/work/ids.h"
#include "recording/work/observer.h"
#include "verbs/misuse.h"
#include "verbs/runtime.h"

namespace anyrdma::transport {
namespace {

// --- mistakes of the program --------------------------------------------------------------------

/// A recorder of this process, by the runtime that mistakes are reported with. Never freed, since
/// any thread may look at it.
struct Recorded {
  verbs::Runtime* runtime;
  std::atomic<recording::EntrySink*> sink;  ///< null: it is no more
  Recorded* next;
};
std::atomic<Recorded*> all_recorded = nullptr;

/// The line on stderr is printed as well.
bool on_misuse(verbs::Runtime& runtime, const verbs::Misuse& misuse) {
  for (Recorded* each = all_recorded.load(); each != nullptr; each = each->next) {
    recording::EntrySink* const sink = each->sink.load();
    if (each->runtime != &runtime || sink == nullptr || sink->is_closed()) continue;
    sink->put(recording::entry_of<recording::EntryKind::kMistake>(0u, to_string(misuse), ""));
  }
  return false;
}

Recorded& record_mistakes(verbs::Runtime& runtime, recording::EntrySink& sink) {
  auto* const recorded = new Recorded{&runtime, &sink, all_recorded.load()};
  while (!all_recorded.compare_exchange_weak(recorded->next, recorded)) continue;
  verbs::listen_for_misuse(&on_misuse);
  return *recorded;
}

// --- the transport ------------------------------------------------------------------------------

/// Stands before whoever observes the transport.
class RecordedOpened final : public Opened, private EventObserver, private CallObserver {
 public:
  RecordedOpened(std::unique_ptr<Opened> below, Watchable* watchable,
                 std::unique_ptr<ProcessRecorder> recorder);
  ~RecordedOpened() override;

  Transport& transport() override { return below_->transport(); }
  const char* name() const override { return below_->name(); }
  bool forked() const override { return below_->forked(); }
  void retire() override;
  std::vector<fault::FaultStatus> faults() override { return below_->faults(); }

 private:
  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override {
    ids_.on_event(step, id, listener, event);
    if (next_event_ != nullptr) next_event_->on_event(step, id, listener, event);
  }
  void on_acknowledged(std::uint64_t id) override {
    ids_.on_acknowledged(id);
    if (next_event_ != nullptr) next_event_->on_acknowledged(id);
  }
  void on_call(std::uint64_t id, std::string_view call, int error) override {
    ids_.on_call(id, call, error);
    if (next_call_ != nullptr) next_call_->on_call(id, call, error);
  }
  void on_refused(std::uint64_t id, std::string_view call, int error) override {
    ids_.on_refused(id, call, error);
    if (next_call_ != nullptr) next_call_->on_refused(id, call, error);
  }
  void on_state(std::uint64_t id, std::string_view state) override {
    ids_.on_state(id, state);
    if (next_call_ != nullptr) next_call_->on_state(id, state);
  }
  void on_handshake(std::uint64_t id, const rdma_cm_id& raw, std::string_view call,
                    const ConnectionParameters& given) override {
    ids_.on_handshake(id, raw, call, given);
    if (next_call_ != nullptr) next_call_->on_handshake(id, raw, call, given);
  }
  void on_channels(int change) override {
    if (next_call_ != nullptr) next_call_->on_channels(change);
  }

  // In the order in which each needs those before it; what is below goes first.
  std::unique_ptr<ProcessRecorder> recorder_;
  recording::IdObserver ids_;
  std::vector<std::unique_ptr<recording::WorkObserver>> works_;  ///< of each device
  Watchable* watchable_;
  std::unique_ptr<Opened> below_;
  Recorded& mistakes_;
  EventObserver* next_event_ = nullptr;
  CallObserver* next_call_ = nullptr;
};

RecordedOpened::RecordedOpened(std::unique_ptr<Opened> below, Watchable* watchable,
                               std::unique_ptr<ProcessRecorder> recorder)
    : recorder_(std::move(recorder)),
      ids_(*recorder_),
      watchable_(watchable),
      below_(std::move(below)),
      mistakes_(record_mistakes(below_->transport().runtime(), *recorder_)) {
  if (watchable_ != nullptr) {
    const std::size_t devices = watchable_->devices();
    for (std::size_t device = 0; device < devices; ++device) {
      recording::EntrySink& sink =
          devices > 1 ? recorder_->sink_of_device("anyrdma" + std::to_string(device)) : *recorder_;
      works_.push_back(std::make_unique<recording::WorkObserver>(
          sink, recording::WorkObserver::Digests::kShort));
      watchable_->set_work_observer(device, works_.back().get());
    }
    watchable_->set_packet_watch(recorder_.get());
  }
  Transport& observed = below_->transport();
  const verbs::CriticalSection section(observed.runtime());
  next_event_ = observed.event_observer();
  next_call_ = observed.call_observer();
  observed.set_event_observer(this);
  observed.set_call_observer(this);
}

RecordedOpened::~RecordedOpened() {
  retire();
  mistakes_.sink.store(nullptr);
  {
    const verbs::CriticalSection section(transport().runtime());
    transport().set_event_observer(next_event_);
    transport().set_call_observer(next_call_);
  }
  if (watchable_ == nullptr || below_->forked()) return;
  watchable_->set_packet_watch(nullptr);
  for (std::size_t device = 0; device < works_.size(); ++device)
    watchable_->set_work_observer(device, nullptr);
}

/// What leaves last is still recorded.
void RecordedOpened::retire() {
  if (below_->forked()) return;
  below_->retire();
  recorder_->end(below_->faults());
}

}  // namespace

std::unique_ptr<Opened> with_recorder(std::unique_ptr<Opened> below, Watchable* watchable,
                                      std::unique_ptr<ProcessRecorder> recorder) {
  return std::make_unique<RecordedOpened>(std::move(below), watchable, std::move(recorder));
}

}  // namespace anyrdma::transport
