// Executes work at the end of a critical section (verbs::Runtime::enter), before another thread can
// enter it.
#pragma once

namespace anyrdma::transport::realtime {

/// Part of a driver, which calls run() where it leaves the critical section
/// (verbs::Runtime::enter). Call all functions inside the critical section.
class Epilogue {
 public:
  /// The interface of the work to execute at the end of the critical section
  /// (verbs::Runtime::enter).
  class Work {
   public:
    virtual ~Work() = default;
    /// Called at the end of the critical section (verbs::Runtime::enter). The driver's other work
    /// is done before, and the consequences of this function are handled after it. The function may
    /// request another call of itself.
    virtual void conclude() = 0;
  };
  /// Sets the work; null: no work. The work must outlive the driver, or be set to null before it is
  /// destroyed.
  void set(Work* work) {
    work_ = work;
    called_ = false;
  }
  /// Requests that the work is called at the end of this critical section (verbs::Runtime::enter).
  void call() { called_ = work_ != nullptr; }
  [[nodiscard]] bool called() const { return called_; }

  /// Called by the driver: executes the work if it was requested. After each call of the work,
  /// `carry_out` handles its consequences.
  template <class CarryOut>
  void run(CarryOut carry_out) {
    // The work may request itself in each call. After kAtOnce calls, the next thread that leaves
    // the critical section (verbs::Runtime::enter) continues, so that other threads are not blocked
    // for ever.
    constexpr int kAtOnce = 8;
    for (int i = 0; i < kAtOnce && called_; ++i) {
      called_ = false;
      work_->conclude();
      carry_out();
    }
  }

 private:
  Work* work_ = nullptr;
  bool called_ = false;
};

}  // namespace anyrdma::transport::realtime
