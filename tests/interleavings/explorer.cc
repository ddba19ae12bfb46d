#include "tests/interleavings/explorer.h"

#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

#include "tests/interleavings/choices.h"
#include "tests/interleavings/hooks.h"
#include "tests/interleavings/memory.h"

namespace anyrdma::interleavings {
namespace {

namespace context = boost::context;
using Kind = Access::Kind;

constexpr std::size_t kStackBytes = std::size_t{1} << 18;

/// What a thread does next; it waits in front of it for its turn.
struct Operation {
  Kind kind = Kind::kLoad;
  std::uint64_t at = 0;
  bool sequential = false;
  const std::function<bool()>* ready = nullptr;
};

/// Whether the order of two operations cannot be told afterwards.
bool independent(const Operation& a, const Operation& b) {
  if (a.sequential && b.sequential) return false;
  if (a.kind == Kind::kFence || b.kind == Kind::kFence) return true;
  if (a.at != b.at) return true;
  return a.kind == Kind::kLoad && b.kind == Kind::kLoad;
}

struct Area {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::uintptr_t first = 0;  ///< of the same bytes, their first mapping
  const char* name = "";
};

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

/// One run of a scenario.
class Run {
 public:
  Run(Choices& choices, const Options& options, bool tells)
      : choices_(choices), options_(options), tells_(tells) {}

  void share(Area area) { areas_[area.begin] = area; }
  [[nodiscard]] const Area* area_of(std::uintptr_t at, std::size_t size) const;

  void go(Scenario scenario);

  // --- called by the threads --------------------------------------------------------------------
  [[nodiscard]] bool inside() const { return inside_; }
  [[nodiscard]] std::size_t thread_number() const { return current_; }
  std::uint64_t load(std::uintptr_t at, std::size_t size, std::memory_order order);
  void store(std::uintptr_t at, std::size_t size, std::uint64_t value, std::memory_order order);
  std::uint64_t modify(std::uintptr_t at, std::size_t size, const Memory::Change& change,
                       std::memory_order order, std::memory_order otherwise);
  void fence(std::memory_order order);
  void plain(std::uintptr_t at, std::size_t size, bool writes);
  void kernel(const void* thing, const char* name, const std::function<bool()>* ready,
              const std::function<void()>& work, Passes passes);
  void fail(const std::string& what);

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::string story() const { return story_.str(); }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] bool repeats() const { return repeats_; }

 private:
  /// What the explorer itself does within a thread is not watched.
  class Outside {
   public:
    explicit Outside(Run& run) : run_(run) { run_.inside_ = false; }
    ~Outside() { run_.inside_ = true; }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    Run& run_;
  };
  struct Thread {
    context::fiber fiber;
    Operation next;
    bool ended = false;
    bool asleep = false;  ///< whatever it does next was tried in this place already
  };

  [[nodiscard]] bool runnable(const Thread& thread) const {
    return !thread.ended && (thread.next.ready == nullptr || (*thread.next.ready)());
  }
  [[nodiscard]] Thread* choose_thread();
  void start(std::function<void()> body);
  void resume(Thread& thread);
  void pause(Operation next);

  [[nodiscard]] Access access_of(Kind kind, std::uintptr_t at, std::size_t size,
                                 std::memory_order order, std::uint64_t value = 0) const;
  [[nodiscard]] Memory::Place place_of(std::uintptr_t at, std::size_t size) const;
  [[nodiscard]] Operation operation_of(const Access& access, const Memory::Place& place) const;
  void mirror(const Memory::Place& place, std::uintptr_t at);
  void tell(const Access& access, const char* verb, std::uint64_t value, std::size_t age);

  Choices& choices_;
  const Options& options_;
  bool tells_;
  Memory memory_{[this](std::size_t count) { return choices_.choose(count); }};
  std::map<std::uintptr_t, Area> areas_;
  std::map<const void*, Knowledge> kernel_;
  std::map<const void*, std::size_t> things_;
  std::array<Thread, kThreadsMax> threads_;
  std::size_t count_ = 0;
  std::size_t current_ = 0;
  context::fiber scheduler_;
  bool inside_ = false;
  bool repeats_ = false;
  std::uint64_t steps_ = 0;
  std::string error_;
  std::ostringstream story_;
};

Run* current_run = nullptr;

// --- threads ------------------------------------------------------------------------------------

void Run::start(std::function<void()> body) {
  Thread& thread = threads_[count_];
  thread.fiber = context::fiber(std::allocator_arg, context::fixedsize_stack(kStackBytes),
                                [this, body = std::move(body)](context::fiber&& from) {
                                  scheduler_ = std::move(from);
                                  body();
                                  threads_[current_].ended = true;
                                  return std::move(scheduler_);
                                });
  current_ = count_++;
  resume(thread);  // up to its first operation
}

void Run::resume(Thread& thread) {
  inside_ = true;
  thread.fiber = std::move(thread.fiber).resume();
  inside_ = false;
}

void Run::pause(Operation next) {
  threads_[current_].next = next;
  scheduler_ = std::move(scheduler_).resume();
  inside_ = false;  // as it was
}

/// Null: nobody can go on. Threads that sleep are those whose turn, here, would only repeat a run
/// that differs in the order of independent operations (Godefroid's sleep sets).
Run::Thread* Run::choose_thread() {
  std::vector<Thread*> awake;
  Thread* any = nullptr;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!runnable(threads_[i])) continue;
    any = &threads_[i];
    if (!threads_[i].asleep) awake.push_back(any);
  }
  if (any == nullptr) return nullptr;
  if (awake.empty()) {
    repeats_ = true;
    choices_.freeze();
    return any;
  }
  const std::size_t chosen = choices_.choose(awake.size());
  for (std::size_t i = 0; i < chosen; ++i) awake[i]->asleep = !options_.every_order;
  return awake[chosen];
}

void Run::go(Scenario scenario) {
  for (std::function<void()>& body : scenario.threads) start(std::move(body));
  while (Thread* const thread = choose_thread()) {
    const Operation operation = thread->next;
    for (Thread& other : threads_)
      if (!independent(operation, other.next)) other.asleep = false;
    current_ = static_cast<std::size_t>(thread - threads_.data());
    ++steps_;
    resume(*thread);
  }
  for (std::size_t i = 0; i < count_; ++i)
    if (!threads_[i].ended) fail("thread " + std::to_string(i) + " waits for ever");
  if (scenario.at_end && error_.empty()) scenario.at_end();
}

void Run::fail(const std::string& what) {
  if (!error_.empty() || repeats_) return;
  error_ = what;
  if (tells_) story_ << "-- " << what << '\n';
  choices_.freeze();
}

// --- operations ---------------------------------------------------------------------------------

const Area* Run::area_of(std::uintptr_t at, std::size_t size) const {
  auto found = areas_.upper_bound(at);
  if (found == areas_.begin()) return nullptr;
  --found;
  return at + size <= found->second.begin + found->second.size ? &found->second : nullptr;
}

Access Run::access_of(Kind kind, std::uintptr_t at, std::size_t size, std::memory_order order,
                      std::uint64_t value) const {
  Access access{.kind = kind, .thread = current_, .order = order, .value = value};
  if (const Area* area = kind == Kind::kFence ? nullptr : area_of(at, size)) {
    access.area = area->name;
    access.offset = at - area->begin;
  }
  if (options_.mistake) options_.mistake(access);
  return access;
}

Memory::Place Run::place_of(std::uintptr_t at, std::size_t size) const {
  const Area& area = *area_of(at, size);
  Memory::Place place{current_, area.first + (at - area.begin), size, 0};
  std::memcpy(&place.now, reinterpret_cast<const void*>(at), size);
  return place;
}

Operation Run::operation_of(const Access& access, const Memory::Place& place) const {
  return {access.kind, place.at, access.order == std::memory_order_seq_cst, nullptr};
}

/// What the machine's memory holds is what came last: prepare() and at_end() look there.
void Run::mirror(const Memory::Place& place, std::uintptr_t at) {
  const std::uint64_t last = memory_.last(place.at);
  std::memcpy(reinterpret_cast<void*>(at), &last, place.size);
  if (!memory_.race().empty()) fail("a race: " + memory_.race());
}

std::uint64_t Run::load(std::uintptr_t at, std::size_t size, std::memory_order order) {
  const Outside outside(*this);
  const Access access = access_of(Kind::kLoad, at, size, order);
  pause(operation_of(access, place_of(at, size)));
  const Memory::Place place = place_of(at, size);
  const Memory::Read read = memory_.load(place, access.order);
  tell(access, "loads", read.value, read.age);
  mirror(place, at);
  return read.value;
}

void Run::store(std::uintptr_t at, std::size_t size, std::uint64_t value, std::memory_order order) {
  const Outside outside(*this);
  const Access access = access_of(Kind::kStore, at, size, order, value);
  pause(operation_of(access, place_of(at, size)));
  const Memory::Place place = place_of(at, size);
  memory_.store(place, value, access.order);
  tell(access, "stores", value, 0);
  mirror(place, at);
}

std::uint64_t Run::modify(std::uintptr_t at, std::size_t size, const Memory::Change& change,
                          std::memory_order order, std::memory_order otherwise) {
  const Outside outside(*this);
  std::uint64_t exchanged = 0;
  (void)change(exchanged);
  const Access access = access_of(Kind::kModify, at, size, order, exchanged);
  if (access.kind == Kind::kLoad) return load(at, size, access.order);
  if (access.torn || access.kind == Kind::kStore) {
    const bool reads = access.kind != Kind::kStore;
    std::uint64_t value = reads ? load(at, size, access.order) : 0;
    const std::uint64_t before = value;
    if (change(value)) store(at, size, value, access.order);
    return before;
  }
  pause(operation_of(access, place_of(at, size)));
  const Memory::Place place = place_of(at, size);
  const Memory::Read read = memory_.modify(place, change, access.order, otherwise);
  tell(access, "changes", read.value, read.age);
  mirror(place, at);
  return read.value;
}

void Run::fence(std::memory_order order) {
  const Outside outside(*this);
  const Access access = access_of(Kind::kFence, 0, 0, order);
  pause(operation_of(access, {}));
  memory_.fence(current_, access.order);
  tell(access, "fences", 0, 0);
}

void Run::plain(std::uintptr_t at, std::size_t size, bool writes) {
  const Outside outside(*this);
  const Memory::Place place = place_of(at, 1);
  const std::string race = memory_.plain(current_, place.at, size, writes);
  if (!race.empty()) {
    const Area& area = *area_of(at, size);
    fail("a race: thread " + std::to_string(current_) + (writes ? " writes " : " reads ") +
         area.name + "+" + std::to_string(at - area.begin) + ", and " + race);
  }
}

void Run::kernel(const void* thing, const char* name, const std::function<bool()>* ready,
                 const std::function<void()>& work, Passes passes) {
  const Outside outside(*this);
  // Told apart from memory by its first bits, and by nothing that differs from run to run.
  const std::uint64_t number = things_.emplace(thing, things_.size()).first->second;
  Operation next{Kind::kKernel, ~number, false, ready};
  pause(next);
  if (passes != Passes::kTells) memory_.hear(current_, kernel_[thing]);
  tell({.kind = Kind::kKernel, .area = name}, "calls", 0, 0);
  inside_ = true;
  work();
  inside_ = false;
  if (passes != Passes::kHears) kernel_[thing].join(memory_.tell(current_));
}

void Run::tell(const Access& access, const char* verb, std::uint64_t value, std::size_t age) {
  if (!tells_) return;
  story_ << std::string(24 * current_, ' ') << current_ << ' ' << verb << ' ' << access.area;
  if (access.kind != Kind::kKernel && access.kind != Kind::kFence)
    story_ << '+' << access.offset << ' ' << value;
  if (access.kind != Kind::kKernel) story_ << ' ' << name_of(access.order);
  if (age != 0) story_ << ", " << age << " behind";
  story_ << '\n';
}

}  // namespace

// --- the interface ------------------------------------------------------------------------------

Findings explore(const std::function<Scenario()>& prepare, Options options) {
  Findings findings;
  Choices choices;
  const auto once = [&](bool tells) {
    auto run = std::make_unique<Run>(choices, options, tells);
    choices.begin();
    current_run = run.get();
    run->go(prepare());
    current_run = nullptr;
    return run;
  };
  while (findings.runs < options.runs_max) {
    std::unique_ptr<Run> run = once(false);
    findings.steps += run->steps();
    ++(run->repeats() ? findings.repeats : findings.runs);
    if (!run->error().empty()) {
      findings.error = run->error();
      run.reset();
      findings.story = once(true)->story();
      return findings;
    }
    if (choices.next()) continue;
    findings.complete = true;
    return findings;
  }
  return findings;
}

void share(const void* at, std::size_t size, const char* area) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  if (current_run != nullptr) current_run->share({begin, size, begin, area});
}

void share_again(const void* at, const void* first, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const auto known = reinterpret_cast<std::uintptr_t>(first);
  if (current_run == nullptr) return;
  const Area* area = current_run->area_of(known, size);
  current_run->share({begin, size, known, area == nullptr ? "?" : area->name});
}

void require(bool holds, const char* what) {
  if (!holds && current_run != nullptr) current_run->fail(what);
}

bool in_thread() {
  return watched(0, 0);
}

std::size_t thread_number() {
  return current_run->thread_number();
}

void kernel(const void* thing, const char* name, const std::function<void()>& work, Passes passes) {
  current_run->kernel(thing, name, nullptr, work, passes);
}

void kernel_when(const void* thing, const char* name, const std::function<bool()>& ready,
                 const std::function<void()>& work, Passes passes) {
  current_run->kernel(thing, name, &ready, work, passes);
}

// --- the compiler's hooks -----------------------------------------------------------------------

bool watched(std::uintptr_t at, std::size_t size) {
  return current_run != nullptr && current_run->inside() &&
         (size == 0 || current_run->area_of(at, size) != nullptr);
}
void on_plain(std::uintptr_t at, std::size_t size, bool writes) {
  current_run->plain(at, size, writes);
}
std::uint64_t on_load(std::uintptr_t at, std::size_t size, std::memory_order order) {
  return current_run->load(at, size, order);
}
void on_store(std::uintptr_t at, std::size_t size, std::uint64_t value, std::memory_order order) {
  current_run->store(at, size, value, order);
}
std::uint64_t on_modify(std::uintptr_t at, std::size_t size,
                        const std::function<bool(std::uint64_t&)>& change, std::memory_order order,
                        std::memory_order otherwise) {
  return current_run->modify(at, size, change, order, otherwise);
}
void on_fence(std::memory_order order) {
  current_run->fence(order);
}

}  // namespace anyrdma::interleavings
