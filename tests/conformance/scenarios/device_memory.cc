// Memory of the device's own: no address of the process's, but regions open it like any other.
#include <array>
#include <cerrno>
#include <string>

#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr std::size_t kSize = 64;

/// Some of the device's memory, and a region over it: both destroyed with it, unrecorded.
class DeviceMemory {
 public:
  explicit DeviceMemory(Endpoint& owner) : owner_(owner) {
    if (!owner.is_made()) return;
    ibv_alloc_dm_attr wanted{.length = kSize, .log_align_req = 3, .comp_mask = 0};
    memory_ = ibv_alloc_dm(owner.context(), &wanted);
    owner.note_call("alloc_dm(" + std::to_string(kSize) + ")", memory_ != nullptr ? 0 : errno);
  }
  ~DeviceMemory() {
    region_.reset();
    if (memory_ != nullptr) (void)ibv_free_dm(memory_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void open(std::size_t offset, std::size_t length, unsigned access) {
    if (memory_ == nullptr) return owner_.note("has no device memory");
    region_ = {ibv_reg_dm_mr(owner_.pd(), memory_, offset, length, access),
               owner_.calls().verbs.dereg_mr};
    owner_.note_call(
        "reg_dm_mr(" + std::to_string(offset) + ".." + std::to_string(offset + length) + ")",
        region_ ? 0 : errno);
  }
  void close() { owner_.note_call("dereg_mr()", region_.destroy()); }
  void free() {
    if (memory_ == nullptr) return owner_.note("has no device memory");
    const int error = ibv_free_dm(memory_);
    owner_.note_call("free_dm()", error);
    if (error == 0) memory_ = nullptr;
  }
  void write(std::size_t offset, const std::string& bytes) {
    if (memory_ == nullptr) return owner_.note("has no device memory");
    owner_.note_call("memcpy_to_dm(" + std::to_string(offset) + ", " + bytes + ")",
                     ibv_memcpy_to_dm(memory_, offset, bytes.data(), bytes.size()));
  }
  void note(std::size_t length) {
    if (memory_ == nullptr) return owner_.note("has no device memory");
    std::array<std::uint8_t, kSize> bytes{};
    const int error = ibv_memcpy_from_dm(bytes.data(), memory_, 0, length);
    if (error != 0) return owner_.note_call("memcpy_from_dm()", error);
    owner_.note("device memory: " + bytes_text(std::span(bytes).first(length)));
  }
  [[nodiscard]] Key key() const {
    return {.value = region_ ? region_.get()->rkey : 0,
            .name = owner_.name() + "'s device memory",
            .zero_based = true};
  }

 private:
  Endpoint& owner_;
  ibv_dm* memory_ = nullptr;
  Owned<ibv_mr> region_;
};

constexpr unsigned kOpen = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | kRemoteAccess;

}  // namespace

SCENARIO(device_memory, is_had) {
  Endpoint alone(server, {});
  const DeviceMemory memory(alone);
}

SCENARIO(device_memory, is_written_and_read_by_the_peer, .needs = {Ability::kDeviceMemory}) {
  Link link(stage);
  DeviceMemory memory(link.passive);
  memory.open(8, 32, kOpen);
  link.active.memory().fill('a');
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 12,
                    .peer = &link.passive,
                    .at = 4,
                    .key = memory.key()});
  link.active.take_send();
  memory.note(28);
  memory.write(8, "from the device.");
  link.active.post(
      {.opcode = IBV_WR_RDMA_READ, .length = 16, .peer = &link.passive, .key = memory.key()});
  link.active.take_send();
  link.active.note_memory(16);
}

SCENARIO(device_memory, ends_where_its_region_ends, .needs = {Ability::kDeviceMemory}) {
  Link link(stage);
  DeviceMemory memory(link.passive);
  memory.open(8, 32, kOpen);
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 12,
                    .peer = &link.passive,
                    .at = 24,
                    .key = memory.key()});
  link.active.take_send();
  memory.note(kSize);
}

SCENARIO(device_memory, is_opened_from_zero_and_within, .needs = {Ability::kDeviceMemory}) {
  Endpoint alone(server, {});
  DeviceMemory memory(alone);
  memory.open(0, kSize, IBV_ACCESS_LOCAL_WRITE);
  memory.open(0, kSize, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE);
  memory.open(kSize, 4, kOpen);
  memory.write(kSize, "over");
  memory.write(kSize - 4, "last");
}

SCENARIO(device_memory, is_not_freed_while_it_is_open, .needs = {Ability::kDeviceMemory}) {
  Endpoint alone(server, {});
  DeviceMemory memory(alone);
  memory.open(0, kSize, kOpen);
  memory.free();
  memory.close();
  memory.free();
}

}  // namespace anyrdma::conformance
