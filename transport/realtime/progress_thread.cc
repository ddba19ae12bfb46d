#include "transport/realtime/progress_thread.h"

#include <pthread.h>

#include <csignal>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace anyrdma::transport::realtime {
namespace {

namespace asio = boost::asio;

/// What a thread starts with is what its maker has: everything blocked for the moment of making.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t previous_{};
};

class AsioThread final : public ProgressThread {
 public:
  AsioThread(int fd, Work& work) : work_(work), descriptor_(io_, fd), timer_(io_) {}
  ~AsioThread() override {
    io_.stop();
    if (thread_.joinable()) thread_.join();
    descriptor_.release();
  }
  void run() {
    const SignalsBlocked blocked;
    wait_for_input();
    thread_ = std::thread([this] { io_.run(); });
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
    timer_.expires_at(std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            deadline->time_since_epoch())));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      deadline_.reset();
      work();
    });
  }

  Work& work_;
  asio::io_context io_{1};
  asio::posix::stream_descriptor descriptor_;
  asio::steady_timer timer_;
  std::optional<verbs::Instant> deadline_;  ///< what the timer is set to
  std::thread thread_;
};

}  // namespace

verbs::Instant monotonic_now() {
  return verbs::Instant(std::chrono::duration_cast<verbs::Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

verbs::Duration wall_clock(verbs::Instant instant) {
  const verbs::Duration now = std::chrono::system_clock::now().time_since_epoch();
  return now - (monotonic_now() - instant);
}

verbs::Result<std::unique_ptr<ProgressThread>> ProgressThread::start(int fd, Work& work) {
  try {
    auto thread = std::make_unique<AsioThread>(fd, work);
    thread->run();
    return std::unique_ptr<ProgressThread>(std::move(thread));
  } catch (const boost::system::system_error& error) {
    return verbs::errno_code(error.code().value());
  } catch (const std::system_error& error) {
    return verbs::errno_code(error.code().value());
  }
}

}  // namespace anyrdma::transport::realtime
