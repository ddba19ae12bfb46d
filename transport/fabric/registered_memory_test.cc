// Registered memory stays the program's own: whatever a program does with it, and whatever becomes
// of peers, it finds there what it would find without us. Each case runs in a process of its own,
// as the user who tests and, if that is root, as one without privileges.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/fabric/testing/end.h"
#include "transport/realtime/testing/child.h"
#include "transport/realtime/testing/eventually.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using realtime::testing::eventually;
using testing::End;
using testing::EndAddress;
using testing::Scratch;

constexpr std::size_t kPage = 4096;
constexpr uid_t kNobody = 65534;
constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                          IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

std::uint8_t* map(std::size_t size) {
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<std::uint8_t*>(at);
}

ibv_mr* register_at(End& end, std::uint8_t* at, std::size_t size) {
  return end.hca().reg_mr(end.pd, at, size, reinterpret_cast<std::uintptr_t>(at), kAll).value();
}

void connect(End& a, End& b) {
  const EndAddress of_a = a.address();
  a.connect(b.address());
  b.connect(of_a);
}

class RegisteredMemory : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer cannot follow threads of a child";
#endif
    if (GetParam() && ::chown(scratch_.config().directory.c_str(), kNobody, kNobody) != 0)
      GTEST_SKIP() << "only root, outside of a sandbox, can become somebody else";
  }

  /// What `body` gives is what was wrong; nothing if it was right.
  void run(const std::function<std::string(const FabricConfig&)>& body) {
    Child child([&](const Child::Line& /*line*/) {
      FabricConfig config = scratch_.config();
      if (GetParam() &&
          (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
        return 2;
      ::prctl(PR_SET_DUMPABLE, 1);  // as any program is that was started by that user
      config.uid = ::geteuid();
      const std::string wrong = body(config);
      if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
      return wrong.empty() ? 0 : 1;
    });
    EXPECT_EQ(child.wait(), 0);
  }

 private:
  Scratch scratch_;
};
INSTANTIATE_TEST_SUITE_P(As, RegisteredMemory, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "Nobody" : "TheTester"; });

// --- what a program does with its memory --------------------------------------------------------

/// Reads a file into a buffer that the kernel has pinned before. Nothing: it did; else why not.
class PinnedBuffer {
 public:
  PinnedBuffer(std::uint8_t* at, std::size_t size) : at_(at), size_(size) {
    io_uring_params params{};
    fd_ = static_cast<int>(::syscall(SYS_io_uring_setup, 1, &params));
    if (fd_ < 0) return;
    const std::size_t ring =
        std::max(params.sq_off.array + params.sq_entries * sizeof(std::uint32_t),
                 params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe));
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    void* rings = ::mmap(nullptr, ring, kProtection, MAP_SHARED, fd_, IORING_OFF_SQ_RING);
    void* entries =
        ::mmap(nullptr, sizeof(io_uring_sqe), kProtection, MAP_SHARED, fd_, IORING_OFF_SQES);
    iovec buffer{at, size};
    pinned_ = rings != MAP_FAILED && entries != MAP_FAILED &&
              ::syscall(SYS_io_uring_register, fd_, IORING_REGISTER_BUFFERS, &buffer, 1) == 0;
    if (!pinned_) return;
    base_ = static_cast<std::uint8_t*>(rings);
    entry_ = static_cast<io_uring_sqe*>(entries);
    params_ = params;
  }
  ~PinnedBuffer() { ::close(fd_); }
  [[nodiscard]] bool pinned() const { return pinned_; }

  [[nodiscard]] bool fill_from(int file) {
    *entry_ = {};
    entry_->opcode = IORING_OP_READ_FIXED;
    entry_->fd = file;
    entry_->addr = reinterpret_cast<std::uintptr_t>(at_);
    entry_->len = static_cast<std::uint32_t>(size_);
    auto* const tail = reinterpret_cast<std::uint32_t*>(base_ + params_.sq_off.tail);
    *reinterpret_cast<std::uint32_t*>(base_ + params_.sq_off.array) = 0;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (::syscall(SYS_io_uring_enter, fd_, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) != 1)
      return false;
    const auto* const done = reinterpret_cast<io_uring_cqe*>(base_ + params_.cq_off.cqes);
    return done->res == static_cast<int>(size_);
  }

 private:
  std::uint8_t* at_;
  std::size_t size_;
  int fd_ = -1;
  bool pinned_ = false;
  std::uint8_t* base_ = nullptr;
  io_uring_sqe* entry_ = nullptr;
  io_uring_params params_{};
};

TEST_P(RegisteredMemory, IsFilledByTheKernelThatHasPinnedItBefore) {
  constexpr std::size_t kSize = 65'536;
  std::uint8_t probe[8];
  if (!PinnedBuffer(probe, sizeof probe).pinned())
    GTEST_SKIP() << "this system has no io_uring: " << std::strerror(errno);
  run([](const FabricConfig& config) -> std::string {
    std::uint8_t* const memory = map(kSize);
    std::memset(memory, 1, kSize);
    PinnedBuffer buffer(memory, kSize);
    if (!buffer.pinned()) return "io_uring does not take the buffer";
    End end(config);
    ibv_mr* const region = register_at(end, memory, kSize);
    const int file = ::memfd_create("source", MFD_CLOEXEC);
    const std::vector<std::uint8_t> bytes(kSize, 9);
    if (::write(file, bytes.data(), kSize) != kSize) return "no file";
    if (!buffer.fill_from(file)) return "the read failed";
    if (std::memcmp(memory, bytes.data(), kSize) != 0) return "the buffer has not changed";
    end.hca().dereg_mr(region).value();
    return std::memcmp(memory, bytes.data(), kSize) == 0 ? "" : "deregistering changed the buffer";
  });
}

TEST_P(RegisteredMemory, GrowsByMremapWithoutTouchingOtherRegions) {
  run([](const FabricConfig& config) -> std::string {
    End end(config);
    std::uint8_t* memory = map(2 * kPage);
    std::uint8_t* const other = map(8 * kPage);
    std::memset(memory, 1, 2 * kPage);
    std::memset(other, 2, 8 * kPage);
    ibv_mr* const region = register_at(end, memory, 2 * kPage);
    ibv_mr* const neighbour = register_at(end, other, 8 * kPage);
    void* const larger = ::mremap(memory, 2 * kPage, 10 * kPage, MREMAP_MAYMOVE);
    if (larger == MAP_FAILED) return "mremap failed";
    memory = static_cast<std::uint8_t*>(larger);
    std::memset(memory + 2 * kPage, 3, 8 * kPage);
    if (std::count(other, other + 8 * kPage, 2) != 8 * kPage) return "another region changed";
    if (std::count(memory, memory + 2 * kPage, 1) != 2 * kPage) return "the beginning changed";
    end.hca().dereg_mr(region).value();
    end.hca().dereg_mr(neighbour).value();
    return std::count(memory, memory + 10 * kPage, 3) == 8 * kPage ? "" : "the end changed";
  });
}

std::uint8_t* volatile struck = nullptr;
std::atomic<int> strikes{0};
void strike(int /*signal*/) {
  for (std::size_t at = 0; at < 16 * kPage; at += kPage) struck[at] = struck[at] + 1;
  ++strikes;
}

TEST_P(RegisteredMemory, MayBeWrittenByASignalHandlerWhileItIsBeingRegistered) {
  run([](const FabricConfig& config) -> std::string {
    End end(config);
    struck = map(16 * kPage);
    struct sigaction action {};
    action.sa_handler = strike;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 200}, {0, 200}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    // Each strike hits some moment of it: where, is up to the clock.
    while (strikes < 2000) end.hca().dereg_mr(register_at(end, struck, 16 * kPage)).value();
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    const auto seen = static_cast<std::uint8_t>(strikes.load());
    return struck[5 * kPage] == seen ? "" : "a write of the handler is lost";
  });
}

/// A thread that registers memory and deregisters it again, for as long as it lives.
class Registrar {
 public:
  Registrar(End& end, std::uint8_t* at, std::size_t size)
      : thread_([this, &end, at, size] {
          while (!stop_) {
            end.hca().dereg_mr(register_at(end, at, size)).value();
            ++rounds_;
          }
        }) {
    (void)eventually([this] { return rounds_ > 10; });
  }
  ~Registrar() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<int> rounds_ = 0;
  std::thread thread_;
};

TEST_P(RegisteredMemory, TakesWhatSystemCallsReadIntoItWhileItIsBeingRegistered) {
  run([](const FabricConfig& config) -> std::string {
    constexpr int kTimes = 400'000;
    End end(config);
    std::uint8_t* const memory = map(16 * kPage);
    const Registrar registrar(end, memory, 16 * kPage);
    const int zeroes = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    int ends[2];
    if (zeroes < 0 || ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
      return "nothing to read from";
    for (int i = 0; i < kTimes; ++i) {
      std::uint8_t* const at = memory + static_cast<std::size_t>(i % 16) * kPage;
      if (::read(zeroes, at, 64) != 64)
        return "a read failed: " + std::string(std::strerror(errno));
      if (::send(ends[0], &i, sizeof i, 0) != sizeof i) return "nothing could be sent";
      if (::recv(ends[1], at, kPage, 0) != sizeof i) return "a datagram is lost";
      if (std::memcmp(at, &i, sizeof i) != 0) return "a datagram is wrong";
    }
    return "";
  });
}

TEST_P(RegisteredMemory, IsASnapshotInAForkedChild) {
  run([](const FabricConfig& config) -> std::string {
    constexpr std::size_t kSize = 64u << 20;
    End end(config);
    std::uint8_t* const memory = map(kSize);
    std::memset(memory, 1, kSize);
    ibv_mr* const region = register_at(end, memory, kSize);
    auto* const x = reinterpret_cast<volatile std::uint64_t*>(memory);
    auto* const y = reinterpret_cast<volatile std::uint64_t*>(memory + kSize - kPage);
    *x = 0;
    *y = 0;
    std::atomic<bool> stop = false;
    std::thread counter([&] {
      while (!stop) {
        *x = *x + 1;
        *y = *x;
      }
    });
    std::string wrong;
    for (int round = 0; round < 20 && wrong.empty(); ++round) {
      if (!eventually([&] { return *y > 1000u * static_cast<unsigned>(round); })) wrong = "no work";
      const pid_t child = ::fork();
      if (child == 0) {
        const std::uint64_t first = *x;
        const std::uint64_t second = *y;
        ::_exit(first == second || first == second + 1 ? 0 : 1);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      if (status != 0) wrong = "the child saw two moments";
    }
    stop = true;
    counter.join();
    end.hca().dereg_mr(region).value();
    return wrong;
  });
}

// --- memory that is gone before it is deregistered ----------------------------------------------

/// Nobody dies, the connection fails, and the owner goes on.
class GoneMemory : public RegisteredMemory {
 protected:
  enum class How { kUnmapped, kProtected };
  static void take_away(End& end, How how) {
    if (how == How::kUnmapped) {
      end.unmap();
    } else {
      ::mprotect(end.memory(), End::kBytes, PROT_NONE);
    }
  }
  /// All that the ends map for each other is mapped then, and fills no hole that comes later.
  static bool acquaint(End& a, End& b, bool near) {
    connect(a, b);
    return near ? a.come_near() : a.run(IBV_WR_RDMA_WRITE, 0, 1, 0) == IBV_WC_SUCCESS;
  }
  /// One request over a fresh connection between ends whose memory is gone on one side.
  static int status_of(const FabricConfig& config, bool near, ibv_wr_opcode opcode, How how) {
    FabricConfig way = config;
    way.near_memory = near;
    End a(way);
    End b(way);
    if (!acquaint(a, b, near)) return -2;
    take_away(b, how);
    if (opcode == IBV_WR_SEND) b.post_receive(0, 64);
    const int status = a.run(opcode, 0, 8, 0);
    if (opcode == IBV_WR_SEND && b.next_completion() != IBV_WC_LOC_PROT_ERR) return -3;
    return status;
  }
};
INSTANTIATE_TEST_SUITE_P(As, GoneMemory, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "Nobody" : "TheTester"; });

TEST_P(GoneMemory, OfAPeerIsRefused) {
  run([](const FabricConfig& config) -> std::string {
    for (const bool near : {true, false}) {
      for (const ibv_wr_opcode opcode :
           {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND}) {
        const int expected = opcode == IBV_WR_SEND ? IBV_WC_REM_OP_ERR : IBV_WC_REM_ACCESS_ERR;
        const int status = status_of(config, near, opcode, How::kUnmapped);
        if (status != expected) {
          return "opcode " + std::to_string(opcode) + (near ? " near" : " by packets") + ": " +
                 std::to_string(status);
        }
      }
    }
    return "";
  });
}

TEST_P(GoneMemory, ThatMayNotBeTouchedByPacketsIsRefused) {
  run([](const FabricConfig& config) -> std::string {
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
      const int status = status_of(config, false, opcode, How::kProtected);
      if (status != IBV_WC_REM_ACCESS_ERR) return std::to_string(status);
    }
    return "";
  });
}

TEST_P(GoneMemory, OfOnesOwnFailsTheWork) {
  run([](const FabricConfig& config) -> std::string {
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND}) {
      for (const bool near : {true, false}) {
        FabricConfig way = config;
        way.near_memory = near;
        End a(way);
        End b(way);
        if (!acquaint(a, b, near)) return "never connected";
        take_away(a, How::kUnmapped);
        if (opcode == IBV_WR_SEND) b.post_receive(0, 64);
        const int status = a.run(opcode, 0, 8, 0);
        if (status != IBV_WC_LOC_PROT_ERR) return "not so, but " + std::to_string(status);
      }
    }
    return "";
  });
}

// --- peers that are stopped ---------------------------------------------------------------------

struct Board {
  EndAddress addresses[2];
  std::atomic<std::uint64_t> count;
};

TEST_P(RegisteredMemory, OfThisProcessDoesNotWaitForAPeerThatIsStopped) {
  run([](const FabricConfig& config) -> std::string {
    void* const shared =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* const board = static_cast<Board*>(shared);
    for (int round = 0; round < 10; ++round) {
      board->count = 0;
      Child writer([&](const Child::Line& line) {
        End end(config);
        board->addresses[1] = end.address();
        line.send('a');
        (void)line.receive();
        end.connect(board->addresses[0]);
        std::memset(end.memory(), 0x77, 100'000);
        if (!end.come_near()) return 1;
        while (end.run(IBV_WR_RDMA_WRITE, 0, 100'000, 0) == IBV_WC_SUCCESS) ++board->count;
        return 0;
      });
      if (writer.receive() != 'a') return "no writer";
      End target(config);
      board->addresses[0] = target.address();
      target.connect(board->addresses[1]);
      writer.send('g');
      if (!eventually([&] { return board->count > 10; })) return "nothing is written";

      writer.stop();  // in the middle of anything
      std::array<ibv_mr*, 5> regions{};
      for (ibv_mr*& region : regions) region = register_at(target, map(kPage), kPage);
      for (ibv_mr* const region : regions) target.hca().dereg_mr(region).value();
      target.deregister();
      std::memset(target.memory(), 1, 100'000);
      writer.go_on();

      if (writer.wait() != 0) return "the writer ended otherwise";
      if (std::count(target.memory(), target.memory() + 100'000, 1) != 100'000)
        return "memory was written to after it had been deregistered";
    }
    return "";
  });
}

}  // namespace
}  // namespace anyrdma::transport::fabric
