// Runs a small scenario of a few threads again and again: once for every order of their operations
// on shared memory that can make a difference, and for everything that the memory of explorer's
// memory.h may answer. The code that is run is the code that is shipped, compiled once more with
// the compiler's hooks for ThreadSanitizer, which end in here (hooks.cc) instead of in its runtime.
// Nothing is left to chance, and threads are fibers of one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace anyrdma::interleavings {

/// What a thread is about to do. A mistake may change it: that is how a test shows that it would
/// notice one.
struct Access {
  enum class Kind : std::uint8_t { kLoad, kStore, kModify, kFence, kKernel };
  Kind kind = Kind::kLoad;
  std::size_t thread = 0;
  const char* area = "";   ///< as share() was told
  std::size_t offset = 0;  ///< in there
  std::memory_order order = std::memory_order_seq_cst;
  std::uint64_t value = 0;  ///< what is stored, or exchanged for what is there
  bool torn = false;        ///< a kModify: what is read and what is stored are two operations
};

/// What is run each time, on memory made for it.
struct Scenario {
  std::vector<std::function<void()>> threads;  ///< at most three
  std::function<void()> at_end;                ///< when all have ended, or nothing
};

struct Options {
  std::function<void(Access&)> mistake{};
  std::uint64_t runs_max = 3'000'000;
  /// Orders of independent operations, too, which nobody can tell apart: to test the explorer.
  bool every_order = false;
};

struct Findings {
  std::uint64_t runs = 0;     ///< that differed from all before
  std::uint64_t repeats = 0;  ///< of one that had been there, seen before their end
  std::uint64_t steps = 0;
  bool complete = false;  ///< there was nothing more to try
  std::string error;      ///< of the first run that went wrong; empty: there was none
  std::string story;      ///< of that run, one operation per line
};

/// `prepare` makes everything anew, as threads may leave it anyhow; what they share it names by
/// share().
[[nodiscard]] Findings explore(const std::function<Scenario()>& prepare, Options options = {});

// --- for prepare() ------------------------------------------------------------------------------

/// Threads share these bytes; all other memory is each one's own.
void share(const void* at, std::size_t size, const char* area);
/// Another mapping of what was shared before.
void share_again(const void* at, const void* first, std::size_t size);

template <class T>
[[nodiscard]] std::shared_ptr<T> make_shared_area(const char* area) {
  auto made = std::make_shared<T>();
  share(made.get(), sizeof(T), area);
  return made;
}

// --- for the threads ----------------------------------------------------------------------------

/// Ends the exploration, unless it holds.
void require(bool holds, const char* what);

/// Whether a scenario's thread is running: its wrapped system calls ask.
[[nodiscard]] bool in_thread();
/// Which one, from 0.
[[nodiscard]] std::size_t thread_number();

/// What a call of the kernel's passes on between those who call it for the same thing.
enum class Passes : std::uint8_t {
  kBoth,   ///< as with a lock held: the caller learns what those before knew, and tells what it
           ///< knows
  kTells,  ///< as sending
  kHears,  ///< as receiving
};
/// A call of the kernel's that works on one thing: nothing comes in between.
void kernel(const void* thing, const char* name, const std::function<void()>& work,
            Passes passes = Passes::kBoth);
/// The same, once `ready` says so. Until then the thread sleeps.
void kernel_when(const void* thing, const char* name, const std::function<bool()>& ready,
                 const std::function<void()>& work, Passes passes = Passes::kBoth);

/// As an eventfd, or a socket that says no more than that there is something.
class Bell {
 public:
  void ring() {
    kernel(this, "ring", [this] { rung_ = true; });
  }
  void wait() {
    kernel_when(
        this, "wait", [this] { return rung_; }, [this] { rung_ = false; });
  }
  [[nodiscard]] bool rung() const { return rung_; }
  /// For prepare().
  void start_rung() { rung_ = true; }

 private:
  bool rung_ = false;
};

}  // namespace anyrdma::interleavings
