// Work at the end of a critical section, before another thread can enter it.
#pragma once

namespace anyrdma::transport::realtime {

/// Part of a driver, which runs it where it leaves the critical section. All functions are called
/// inside.
class Epilogue {
 public:
  /// The interface of that work.
  class Work {
   public:
    virtual ~Work() = default;
    /// Called at the end of the section, after the driver's other work and before its consequences
    /// are handled. It may request another call of itself.
    virtual void conclude() = 0;
  };
  /// Null: nothing is done. The work outlives the driver or is unset before.
  void set(Work* work) {
    work_ = work;
    called_ = false;
  }
  /// Requests a call of the work at the end of this section.
  void call() { called_ = work_ != nullptr; }
  [[nodiscard]] bool called() const { return called_; }

  /// For the driver: `carry_out` is what it does with what the work leads to.
  template <class CarryOut>
  void run(CarryOut carry_out) {
    // Work that requests itself each time must not block other threads for ever: the rest is done
    // by the next thread that leaves.
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
