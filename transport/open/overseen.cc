#include "transport/open/overseen.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "recording/work/observer.h"
#include "sim/points/word_queue.h"
#include "transport/fault/plan/question.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/prompt_call.h"
#include "transport/realtime/scheduling_point.h"
#include "transport/realtime/shared_memory.h"
#include "verbs/runtime.h"

namespace anyrdma::transport {
namespace {

using fault::Oversight;
using fault::Question;
using Kind = Question::Kind;

/// False: nobody answers, and the question is as it was. Leaves errno alone.
bool ask_world(Question& question) {
  const int error = errno;
  const bool answered = ::syscall(fault::kAskWorld, &question, sizeof question) == 0;
  errno = error;
  return answered;
}

/// This process's, made by the first device that it opens and never unmapped: its threads may be in
/// it as long as it lives. Null: there is none. Threads: one at a time, as devices are opened.
sim::WordQueue* words_of_process() {
  static pid_t owner = 0;  // a child that was forked has its parent's, which is none of its own
  static sim::WordQueue* words = nullptr;
  if (std::exchange(owner, ::getpid()) == ::getpid()) return words;
  words = nullptr;
  realtime::Descriptor fd;
  auto memory = realtime::SharedMemory::create(sizeof(sim::WordQueue), fd);
  if (!memory || ::syscall(sim::kShareWords, fd.get()) != 0) return nullptr;
  words = reinterpret_cast<sim::WordQueue*>(memory->release().data());
  return words;
}

/// Stands where a fault plan of the process's own would.
class OverseenOpened final : public Opened,
                             private EventObserver,
                             private CallObserver,
                             private verbs::CallGate,
                             private recording::WorkSink,
                             private soft::Admission {
 public:
  OverseenOpened(std::unique_ptr<Opened> below, Breakable& breakable, Watchable& watchable,
                 const Oversight& oversight, sim::WordQueue* words);
  ~OverseenOpened() override;

  Transport& transport() override { return below_->transport(); }
  const char* name() const override { return below_->name(); }
  bool forked() const override { return below_->forked(); }
  void retire() override;

 private:
  void ask(Question& question) {
    if (!retired_ && !below_->forked()) (void)ask_world(question);
  }
  /// What has no answer.
  void tell(Question& word) {
    if (retired_ || below_->forked()) return;
    if (words_ == nullptr || !words_->put(word)) (void)ask_world(word);
  }

  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override;
  void on_acknowledged(std::uint64_t id) override;
  void on_call(std::uint64_t id, std::string_view call, int error) override;
  void on_refused(std::uint64_t id, std::string_view call, int error) override;
  void on_state(std::uint64_t id, std::string_view state) override;
  int on_call(std::uint64_t id, std::string_view call) override;
  ibv_wc_status on_work(const verbs::PostedWork& work) override;
  void on_failure(const ibv_wc& completion) override;
  void on_take() override;
  void on_queue_pair(const recording::QueuePairState& state) override;
  void on_work(const recording::PostedWork& work) override;
  void on_completion(const recording::TakenCompletion& completion) override;
  void on_async(const recording::RaisedEvent& event) override;
  std::optional<Refusal> on_request(std::string_view device,
                                    const ibcm::ReqParameters& request) override;

  recording::WorkObserver work_;  ///< outlives the device, which tells it
  std::unique_ptr<Opened> below_;
  Breakable& breakable_;
  Watchable& watchable_;
  const Oversight oversight_;
  sim::WordQueue* const words_;  ///< null: nothing may wait
  std::atomic<bool> retired_ = false;
  Question request_{};  ///< the last one: its refusal's data
};

OverseenOpened::OverseenOpened(std::unique_ptr<Opened> below, Breakable& breakable,
                               Watchable& watchable, const Oversight& oversight,
                               sim::WordQueue* words)
    : work_(*this),
      below_(std::move(below)),
      breakable_(breakable),
      watchable_(watchable),
      oversight_(oversight),
      words_(words) {
  if (oversight.work) watchable_.set_work_observer(&work_);
  Transport& transport = below_->transport();
  if (oversight.requests) breakable_.set_admission(this);
  const bool gated = oversight.gate || oversight.takes;
  if (gated) breakable_.set_call_gate(this);
  const verbs::CriticalSection section(transport.runtime());
  if (oversight.events) transport.set_event_observer(this);
  if (oversight.calls || oversight.states || oversight.refusals) transport.set_call_observer(this);
  if (gated) transport.set_call_gate(this);
}

OverseenOpened::~OverseenOpened() {
  retire();
  const verbs::CriticalSection section(transport().runtime());
  transport().set_event_observer(nullptr);
  transport().set_call_observer(nullptr);
  transport().set_call_gate(nullptr);
}

void OverseenOpened::retire() {
  if (below_->forked()) return;
  if (!retired_.exchange(true)) {
    breakable_.set_admission(nullptr);
    breakable_.set_call_gate(nullptr);
  }
  below_->retire();
}

// --- what is asked ------------------------------------------------------------------------------

void OverseenOpened::on_event(Step step, std::uint64_t id, std::uint64_t listener,
                              const rdma_cm_event& event) {
  Question word{.kind = step == Step::kQueued ? Kind::kQueued : Kind::kFetched,
                .id = id,
                .event = event.event,
                .listener = listener,
                .datagram = event.id->qp_type == IBV_QPT_UD};
  tell(word);
}

void OverseenOpened::on_acknowledged(std::uint64_t id) {
  if (!oversight_.acknowledgements) return;
  Question word{.kind = Kind::kAcknowledged, .id = id};
  tell(word);
}

void OverseenOpened::on_call(std::uint64_t id, std::string_view call, int error) {
  if (!oversight_.calls) return;
  Question word{.kind = Kind::kMade, .id = id, .status = error};
  word.set_word(call);
  tell(word);
}

void OverseenOpened::on_refused(std::uint64_t id, std::string_view call, int error) {
  if (!oversight_.refusals) return;
  Question word{.kind = Kind::kRefused, .id = id, .status = error};
  word.set_word(call);
  tell(word);
}

void OverseenOpened::on_state(std::uint64_t id, std::string_view state) {
  if (!oversight_.states) return;
  Question word{.kind = Kind::kState, .id = id};
  word.set_word(state);
  tell(word);
}

int OverseenOpened::on_call(std::uint64_t id, std::string_view call) {
  if (!oversight_.gate) return 0;
  Question question{.kind = Kind::kCall, .id = id};
  question.set_word(call);
  ask(question);
  return question.error;
}

ibv_wc_status OverseenOpened::on_work(const verbs::PostedWork& work) {
  if (!oversight_.gate) return IBV_WC_SUCCESS;
  Question question{.kind = Kind::kWork, .work = work};
  ask(question);
  return static_cast<ibv_wc_status>(question.status);
}

void OverseenOpened::on_failure(const ibv_wc& completion) {
  if (!oversight_.gate) return;
  Question question{.kind = Kind::kFailure,
                    .work = {.qp_num = completion.qp_num, .wr_id = completion.wr_id},
                    .status = completion.status};
  ask(question);
}

void OverseenOpened::on_take() {
  if (!oversight_.takes) return;
  Question question{.kind = Kind::kTake};
  ask(question);
}

// --- what is told for a recording ---------------------------------------------------------------

void OverseenOpened::on_queue_pair(const recording::QueuePairState& state) {
  Question word{.kind = Kind::kQueuePair, .work = {.qp_num = state.qp_num}};
  word.set_word(state.state);
  tell(word);
}

void OverseenOpened::on_work(const recording::PostedWork& work) {
  Question word{.kind = Kind::kPosted,
                .work = {.qp_num = work.qp_num, .wr_id = work.wr_id, .length = work.bytes}};
  word.set_word(work.operation);
  tell(word);
}

void OverseenOpened::on_completion(const recording::TakenCompletion& completion) {
  Question word{
      .kind = Kind::kTaken,
      .work = {.qp_num = completion.qp_num, .wr_id = completion.wr_id, .length = completion.bytes},
      .status = static_cast<std::int32_t>(completion.status),
      .code = completion.opcode};
  tell(word);
}

void OverseenOpened::on_async(const recording::RaisedEvent& event) {
  Question word{.kind = Kind::kRaised,
                .event = static_cast<std::int32_t>(event.type),
                .work = {.qp_num = event.qp_num}};
  tell(word);
}

// --- requests -----------------------------------------------------------------------------------

std::optional<soft::Admission::Refusal> OverseenOpened::on_request(std::string_view,
                                                                   const ibcm::ReqParameters&) {
  request_ = Question{.kind = Kind::kRequest};
  ask(request_);
  if (request_.mra != 0) {
    Refusal none;
    none.postponed = static_cast<std::uint8_t>(request_.mra - 1);
    return none;
  }
  if (!request_.refused) return std::nullopt;
  return Refusal{.reason = request_.reason,
                 .private_data = std::span(request_.data).first(request_.size),
                 .unanswered = request_.unanswered,
                 .no_room = request_.no_room};
}

}  // namespace

OpenResult with_oversight(std::unique_ptr<Opened> below, Breakable& breakable,
                          Watchable& watchable) {
  Question device{.kind = Kind::kOpened};
  if (ask_world(device)) {
    realtime::mark_prompt_calls();
    realtime::enter_world();
  }
  if (device.error != 0) {
    return OpenError{verbs::errno_code(device.error), "The host's device was removed."};
  }
  if (device.port_down) {
    const verbs::CriticalSection section(below->transport().runtime());
    (void)breakable.set_port(false).has_value();
  }
  sim::WordQueue* const words = device.oversight.later ? words_of_process() : nullptr;
  auto overseen = std::unique_ptr<Opened>(std::make_unique<OverseenOpened>(
      std::move(below), breakable, watchable, device.oversight, words));
  // Last: what is done above depends on who watches, and must not show in the schedule.
  if (device.oversight.points) realtime::want_scheduling_points();
  return overseen;
}

}  // namespace anyrdma::transport
