// Two ends of transport/fabric/mesh.cc and mesh_traffic.cc, as they are, with real sockets between
// them, under every order of their accesses to the rings and of their system calls: nobody sleeps
// while there is something for it.
#include "transport/fabric/mesh.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include "tests/interleavings/explorer.h"
#include "verbs/assert.h"

namespace anyrdma::interleavings {
namespace {

using transport::fabric::Mesh;
using transport::fabric::MeshConfig;
using transport::fabric::Slot;
using transport::fabric::packet_ring::Control;
using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;

/// A socket per direction: what a thread sends the other one receives.
std::array<char, 2> sockets;

/// What several mappings of one file have in common.
std::map<ino_t, void*>& first_mappings() {
  static std::map<ino_t, void*> mappings;
  return mappings;
}

/// Where the members' sockets are, for as long as the test runs.
struct Folder {
  Folder() {
    CM_ASSERT(::mkdtemp(path.data()) != nullptr);
    fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path = (std::filesystem::temp_directory_path() / "interleavings-XXXXXX").string();
  int fd = -1;
};
const Folder& sockets_folder() {
  static const Folder folder;
  return folder;
}

class Member final : public Mesh::Receiver {
 public:
  explicit Member(std::uint16_t slot) {
    const Folder& folder = sockets_folder();
    mesh = Mesh::create({.uid = ::getuid(),
                         .directory = folder.fd,
                         .path = folder.path,
                         .name = "m-",
                         .self = Slot{slot},
                         .incarnation = slot + 1u},
                        pool, *this)
               .value();
  }
  void on_packet(PacketPtr packet) override {
    if (in_thread()) require(packet->storage[0] == got, "a packet is lost, or comes twice");
    ++got;
  }
  void on_gone(Slot /*slot*/) override { require(false, "a link has broken"); }

  void send(std::uint16_t to, std::uint16_t size = 8) {
    PacketPtr packet = pool.take();
    packet->size = size;
    std::memset(packet->storage.data(), sent++, size);
    mesh->send(Slot{to}, std::move(packet));
    mesh->transmit();
  }
  [[nodiscard]] bool readable() const {
    pollfd entry{mesh->fd(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  /// As the driver's thread.
  void wait_for_readable() {
    kernel_when(
        &sockets[1 - thread_number()], "waits", [this] { return readable(); }, [] {},
        Passes::kHears);
  }

  PacketPool pool;
  std::uint8_t sent = 0;
  std::uint8_t got = 0;
  std::unique_ptr<Mesh> mesh;
};

struct Pair {
  Member writer{0};
  Member reader{1};

  /// Until packets go through rings.
  Pair() {
    writer.send(1);
    for (int i = 0; i < 4; ++i) {
      (void)reader.mesh->poll();
      (void)writer.mesh->poll();
      writer.mesh->transmit();
    }
    EXPECT_EQ(reader.got, 1);
  }
};

using Part = void (*)(Pair&);
Findings explore_pair(Part writer, Part reader, const std::function<void(Access&)>& mistake = {}) {
  const Findings findings = explore(
      [&] {
        first_mappings().clear();
        auto pair = std::make_shared<Pair>();
        return Scenario{{[=] { writer(*pair); }, [=] { reader(*pair); }}, [=] {
                          require(pair->reader.got == pair->writer.sent, "a packet is lost");
                        }};
      },
      {.mistake = mistake});
  std::cout << findings.runs << " runs, " << findings.steps << " steps\n";
  return findings;
}
void expect_right(const Findings& findings) {
  EXPECT_EQ(findings.error, "") << findings.story;
  EXPECT_TRUE(findings.complete);
  EXPECT_GT(findings.runs, 5u) << "nothing was watched";
}

// --- sleep --------------------------------------------------------------------------------------

void send_two(Pair& pair) {
  for (int i = 0; i < 2; ++i) pair.writer.send(1);
}
/// As Driver::on_wakeup and its thread.
void receive_asleep(Pair& pair) {
  Member& reader = pair.reader;
  while (true) {
    do {
      (void)reader.mesh->poll();
    } while (reader.mesh->has_more());
    if (reader.got == 3) return;
    reader.wait_for_readable();
  }
}
/// As Driver::progress, and then about_to_wait.
void receive_awake(Pair& pair) {
  pair.reader.mesh->set_awake(true);
  (void)pair.reader.mesh->glance();
  pair.reader.mesh->set_awake(false);
  receive_asleep(pair);
}

bool of_sleep(const Access& access) {
  return access.offset == offsetof(Control, reader_sleeps);
}

TEST(Mesh, WhoeverSleepsIsWoken) {
  expect_right(explore_pair(send_two, receive_asleep));
}

TEST(Mesh, WhoeverSleepsIsWokenAfterHavingPolled) {
  expect_right(explore_pair(send_two, receive_awake));
}

TEST(Mesh, FindsSleepThatIsRelaxed) {
  const Findings findings = explore_pair(send_two, receive_asleep, [](Access& access) {
    if (access.kind == Access::Kind::kModify && of_sleep(access))
      access.order = std::memory_order_relaxed;
  });
  EXPECT_EQ(findings.error, "thread 1 waits for ever");
}

}  // namespace
}  // namespace anyrdma::interleavings

// --- system calls -------------------------------------------------------------------------------

// The names are the linker's.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
namespace watch = anyrdma::interleavings;

extern "C" {

void* __real_mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset);
ssize_t __real_send(int fd, const void* bytes, std::size_t size, int flags);
int __real_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout);
int __real_epoll_wait(int fd, epoll_event* events, int count, int timeout);

void* __wrap_mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) {
  void* const made = __real_mmap(at, size, protection, flags, fd, offset);
  if (made == MAP_FAILED || fd < 0 || (flags & MAP_SHARED) == 0) return made;
  struct stat status {};
  if (::fstat(fd, &status) != 0) return made;
  const auto [first, fresh] = watch::first_mappings().emplace(status.st_ino, made);
  if (fresh) {
    watch::share(made, size, "ring");
  } else {
    watch::share_again(made, first->second, size);
  }
  return made;
}

ssize_t __wrap_send(int fd, const void* bytes, std::size_t size, int flags) {
  ssize_t result = 0;
  const auto call = [&] { result = __real_send(fd, bytes, size, flags); };
  if (watch::in_thread()) {
    watch::kernel(&watch::sockets[watch::thread_number()], "send", call, watch::Passes::kTells);
  } else {
    call();
  }
  return result;
}

int __wrap_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  int result = 0;
  const auto call = [&] { result = __real_recvmmsg(fd, messages, count, flags, timeout); };
  if (watch::in_thread()) {
    watch::kernel(&watch::sockets[1 - watch::thread_number()], "recvmmsg", call,
                  watch::Passes::kHears);
  } else {
    call();
  }
  return result;
}

int __wrap_epoll_wait(int fd, epoll_event* events, int count, int timeout) {
  int result = 0;
  const auto call = [&] { result = __real_epoll_wait(fd, events, count, timeout); };
  if (watch::in_thread()) {
    watch::kernel(&watch::sockets[1 - watch::thread_number()], "epoll_wait", call,
                  watch::Passes::kHears);
  } else {
    call();
  }
  return result;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
