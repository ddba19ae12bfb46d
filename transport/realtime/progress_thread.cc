#include "transport/realtime/progress_thread.h"

#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "base/no_signals.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/own_clock.h"
#include "transport/realtime/thread_name.h"

namespace anyrdma::transport::realtime {
namespace {

namespace asio = boost::asio;

class AsioThread final : public ProgressThread {
 public:
  AsioThread(int fd, Descriptor timer, Work& work)
      : work_(work), descriptor_(io_, fd), timer_(io_, timer.release()) {}
  ~AsioThread() override {
    io_.stop();
    if (thread_.joinable()) thread_.join();
    descriptor_.release();
  }
  void run() {
    const NoSignals inherited;
    wait_for_input();
    wait_for_deadline();
    thread_ = std::thread([this] {
      (void)::pthread_setname_np(::pthread_self(), kProgressThreadName);
      io_.run();
    });
  }
  void wake() override {
    asio::post(io_, [this] { work(); });
  }

 private:
  void wait_for_input() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [this](const boost::system::error_code& error) {
                             if (error) return;
                             work();
                             wait_for_input();
                           });
  }

  void work() {
    const std::optional<verbs::Instant> deadline = work_.on_wakeup();
    if (!deadline || deadline == deadline_) return;
    deadline_ = deadline;
    const auto since_boot = std::max(deadline->time_since_epoch(), verbs::Duration(1));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot - whole);
    const itimerspec when{.it_interval = {}, .it_value = {whole.count(), rest.count()}};
    ::timerfd_settime(timer_.native_handle(), TFD_TIMER_ABSTIME, &when, nullptr);
  }

  void wait_for_deadline() {
    timer_.async_wait(asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) {
                        if (error) return;
                        std::uint64_t times = 0;
                        (void)!::read(timer_.native_handle(), &times, sizeof times);
                        deadline_.reset();
                        work();
                        wait_for_deadline();
                      });
  }

  Work& work_;
  asio::io_context io_{1};
  asio::posix::stream_descriptor descriptor_;
  /// Ours: Asio's, once one was used, wakes the thread every five minutes for nothing, and in
  /// virtual time the end of all events would not be seen.
  asio::posix::stream_descriptor timer_;
  std::optional<verbs::Instant> deadline_;  ///< what the timer is set to
  std::thread thread_;
};

}  // namespace

verbs::Instant monotonic_now() {
  if (&::anyrdma_own_clock != nullptr)
    return verbs::Instant(std::chrono::nanoseconds(::anyrdma_own_clock()));
  return verbs::Instant(std::chrono::duration_cast<verbs::Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

verbs::Duration wall_clock(verbs::Instant instant) {
  const verbs::Duration now = std::chrono::system_clock::now().time_since_epoch();
  return now - (monotonic_now() - instant);
}

verbs::Result<std::unique_ptr<ProgressThread>> ProgressThread::start(int fd, Work& work) {
  Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer) return verbs::errno_code(errno);
  try {
    auto thread = std::make_unique<AsioThread>(fd, std::move(timer), work);
    thread->run();
    return std::unique_ptr<ProgressThread>(std::move(thread));
  } catch (const boost::system::system_error& error) {
    return verbs::errno_code(error.code().value());
  } catch (const std::system_error& error) {
    return verbs::errno_code(error.code().value());
  }
}

}  // namespace anyrdma::transport::realtime
