#include "tests/soak/trouble.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "tests/soak/finding.h"
#include "tests/soak/memory.h"

namespace anyrdma::soak {
namespace {

constexpr std::size_t kPage = 4096;
constexpr unsigned kAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr int kPatience = 120'000;

/// A registration that must succeed, and end.
class Region {
 public:
  Region(ibv_pd* pd, void* at, std::size_t size) : mr_(ibv_reg_mr(pd, at, size, kAccess)) {
    require(mr_ != nullptr, "ibv_reg_mr");
  }
  ~Region() {
    errno = ibv_dereg_mr(mr_);
    require(errno == 0, "ibv_dereg_mr");
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  [[nodiscard]] std::uint32_t rkey() const { return mr_->rkey; }

 private:
  ibv_mr* mr_;
};

std::uint8_t* map(std::size_t size) {
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(at != MAP_FAILED, "mmap");
  return static_cast<std::uint8_t*>(at);
}

/// Where nothing else comes to lie once it is unmapped: a region is its addresses, and peers write
/// to what is there (docs/transports.md), which here must not be another thread's. The system gives
/// out addresses far above, from the top.
std::uint8_t* map_apart(std::size_t size) {
  static std::atomic<std::uintptr_t> next = std::uintptr_t{1} << 36;
  void* const wanted = reinterpret_cast<void*>(next.fetch_add(std::uintptr_t{1} << 24));
  void* const at = ::mmap(wanted, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  require(at == wanted, "mmap");
  return static_cast<std::uint8_t*>(at);
}

void check(std::uint8_t* at, std::size_t size, std::uint64_t key, const char* what) {
  std::vector<std::uint8_t> expected(size);
  fill(expected, key);
  const std::string wrong = difference({at, size}, expected);
  if (!wrong.empty()) end_with(End::kWrong, "%s: %s", what, wrong.c_str());
}

}  // namespace

Trouble::Trouble(ibv_pd* pd, Dice dice, Signals signals) : pd_(pd) {
  if (signals == Signals::kYes) threads_.emplace_back([this] { write_in_signals(); });
  threads_.emplace_back([this, dice] { change_address_space(dice); });
  threads_.emplace_back([this] { use_pipes(); });
  threads_.emplace_back([this] { fork_children(); });
}

Trouble::~Trouble() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
}

// --- memory that comes and goes -----------------------------------------------------------------

/// Memory that is registered and changes meanwhile: it keeps its content, and so does what comes to
/// lie where it was.
void Trouble::register_what_changes(Dice& dice) {
  const std::size_t pages = 1 + dice.below(32);
  const std::uint64_t key = dice.next();
  std::uint8_t* at = map(pages * kPage);
  fill({at, pages * kPage}, key);
  std::size_t size = pages * kPage;
  {
    const std::size_t from = dice.below(size);
    const Region region(pd_, at + from, 1 + dice.below(size - from));
    check(at, size, key, "memory that has been registered");
    switch (dice.below(5)) {
      case 0: {  // grows, perhaps elsewhere
        void* const grown = ::mremap(at, size, 2 * size, MREMAP_MAYMOVE);
        require(grown != MAP_FAILED, "mremap");
        at = static_cast<std::uint8_t*>(grown);
        std::memset(at + size, 0xaa, size);
        check(at, size, key, "memory that has grown");
        size *= 2;
        for (std::size_t i = size / 2; i < size; ++i)
          if (at[i] != 0xaa) end_with(End::kWrong, "what memory has grown by is not its own");
        break;
      }
      case 1:  // may not be touched for a while
        require(::mprotect(at, size, PROT_NONE) == 0, "mprotect");
        require(::mprotect(at, size, PROT_READ | PROT_WRITE) == 0, "mprotect");
        break;
      case 2:  // is gone before its registration ends, and something else is there
        require(::munmap(at, size) == 0, "munmap");
        at = nullptr;
        break;
      case 3: {  // twice registered
        const Region again(pd_, at, size);
        break;
      }
      case 4:  // begins anew
        require(::madvise(at, size, MADV_DONTNEED) == 0, "madvise");
        fill({at, size}, key);
        break;
    }
    if (at == nullptr) at = map(size = pages * kPage);
    fill({at, pages * kPage}, key);
  }
  check(at, pages * kPage, key, "memory whose registration has ended");
  require(::munmap(at, size) == 0, "munmap");
}

void Trouble::change_address_space(Dice dice) {
  while (!over_) {
    register_what_changes(dice);
    totals().troubles += 1;
    ::sched_yield();
  }
}

/// System calls into memory while it is registered and deregistered.
void Trouble::use_pipes() {
  std::array<int, 2> ends{};
  require(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
  const Pages in(4 * kPage);
  const Pages out(kPage);
  fill(out.bytes(), 7);
  std::thread registering([&] {
    while (!over_) {
      const Region region(pd_, in.data(), in.size());
      ::sched_yield();
    }
  });
  for (std::size_t i = 0; !over_; ++i) {
    std::uint8_t* const to = in.data() + i % 3 * kPage + i % 64;
    ssize_t got = ::write(ends[1], out.data(), kPage);
    if (got == kPage) got = ::read(ends[0], to, kPage);
    if (got != kPage) end_with(End::kWrong, "read gives %zd, errno %d", got, errno);
    check(to, kPage, 7, "what was read from a pipe");
    ::sched_yield();
  }
  registering.join();
  (void)::close(ends[0]);
  (void)::close(ends[1]);
}

/// A child has the memory of one moment.
void Trouble::fork_children() {
  const Pages pages(64 * kPage);
  const Region region(pd_, pages.data(), pages.size());
  struct Pair {
    std::atomic<std::uint64_t> first;
    std::atomic<std::uint64_t> second;
  };
  auto& front = *new (pages.data()) Pair{};
  auto& back = *new (pages.data() + 63 * kPage) Pair{};
  std::thread counting([&] {
    for (std::uint64_t i = 1; !over_; ++i) {
      front.first = i;
      back.second = i;
      if (i % 1024 == 0) ::sched_yield();
    }
  });
  while (!over_) {
    const pid_t child = ::fork();
    require(child >= 0, "fork");
    if (child == 0) ::_exit(front.first - back.second <= 1 ? 0 : 9);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) end_with(End::kWrong, "a child's memory is of no moment (%#x)", status);
    totals().troubles += 1;
    for (int i = 0; i < 1000 && !over_; ++i) ::sched_yield();
  }
  counting.join();
}

// --- signals ------------------------------------------------------------------------------------

namespace {

volatile std::uint8_t* written_by_signals = nullptr;

void on_signal(int) {
  for (std::size_t i = 0; i < 8 * kPage; i += kPage) written_by_signals[i] = 1;
}

}  // namespace

void Trouble::write_in_signals() {
  // For ever: when the timer is off, another thread may still be in the handler.
  static const Pages pages(8 * kPage);
  written_by_signals = pages.data();
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  require(::sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  const itimerval often{{0, 7000}, {0, 7000}};
  require(::setitimer(ITIMER_REAL, &often, nullptr) == 0, "setitimer");
  while (!over_) {
    const Region region(pd_, pages.data(), pages.size());
    ::sched_yield();
  }
  const itimerval never{};
  require(::setitimer(ITIMER_REAL, &never, nullptr) == 0, "setitimer");
  require(::signal(SIGALRM, SIG_IGN) != SIG_ERR, "signal");
}

// --- the end ------------------------------------------------------------------------------------

void pull_the_rug(Link& link, Role role, Dice dice) {
  constexpr std::size_t kSize = 16 * kPage;
  const bool is_victim = (role == Role::kServer) == dice.one_in(2);
  const std::size_t way = dice.below(3);
  const bool reads = dice.one_in(2);
  std::uint8_t* const at = map_apart(kSize);
  std::memset(at, 0, kSize);
  {
    const Region region(link.pd(), at, kSize);
    const std::uint64_t address = link.swap(reinterpret_cast<std::uintptr_t>(at));
    const auto rkey = static_cast<std::uint32_t>(link.swap(region.rkey()));
    if (is_victim && way == 0) require(::munmap(at, kSize) == 0, "munmap");
    if (is_victim && way == 1) require(::mprotect(at, kSize, PROT_NONE) == 0, "mprotect");
    if (is_victim && way == 2) require(::mprotect(at, kSize, PROT_READ) == 0, "mprotect");
    link.meet();
    if (!is_victim) {
      ibv_sge piece{reinterpret_cast<std::uintptr_t>(link.memory().data()), kSize, link.lkey()};
      ibv_send_wr request{};
      request.sg_list = &piece;
      request.num_sge = 1;
      request.opcode = reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
      request.send_flags = IBV_SEND_SIGNALED;
      request.wr.rdma = {address, rkey};
      ibv_send_wr* bad = nullptr;
      errno = ibv_post_send(link.qp(Service::kReliable), &request, &bad);
      require(errno == 0, "ibv_post_send");
      ibv_wc completion{};
      if (!link.poll(completion, kPatience))
        end_with(End::kWrong, "a request to memory that is gone never completes");
    }
    link.meet();
  }
  if (!is_victim || way != 0) (void)::munmap(at, kSize);
}

}  // namespace anyrdma::soak
