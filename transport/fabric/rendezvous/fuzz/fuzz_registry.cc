#include "transport/fabric/rendezvous/fuzz/fuzz_registry.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "transport/fabric/rendezvous/registry.h"
#include "transport/fabric/rendezvous/registry_file.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric::fuzz {
namespace {

using soft::Address;
using soft::Claim;

enum class Stranger : std::uint8_t { kNone, kWrites };

/// Ephemeral ports are searched for from here on.
class Fixed final : public verbs::Random {
 public:
  std::uint64_t next() override { return value_ += 0x9e37'79b9'7f4a'7c15; }

 private:
  std::uint64_t value_ = 0;
};

/// One directory for all scripts: each leaves it empty.
const FabricConfig& config() {
  static const testing::Scratch scratch;
  return scratch.config();
}

class Script {
 public:
  explicit Script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool over() const { return bytes_.empty(); }
  [[nodiscard]] std::uint32_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  [[nodiscard]] std::uint32_t word() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// Few addresses and ports, half of which share a list.
Claim draw_claim(Script& script) {
  const std::uint32_t what = script.byte();
  constexpr std::array<std::uint16_t, 4> kPorts{5000, 5000 + kPortBuckets, 5001, 0};
  Claim claim{.space = (what & 1) != 0 ? RDMA_PS_TCP : RDMA_PS_UDP};
  switch (what >> 1 & 3) {
    case 0:
      claim.local = Address::wildcard(AF_INET);
      break;
    case 1:
      claim.local = Address::wildcard(AF_INET6);
      break;
    case 2:
      claim.local = Address::ipv4(0x0a000001);
      break;
    default:
      claim.local = Address::ipv4(0x0a000002);
      break;
  }
  claim.local.port = kPorts[what >> 3 & 3];
  claim.reuse = (what & 32) != 0;
  claim.afonly = (what & 64) != 0;
  return claim;
}

class Fabric {
 public:
  explicit Fabric(Stranger stranger) : stranger_(stranger) {
    for (auto& member : members_) member = Registry::join(config(), random_).value();
    auto file = RegistryFile::open(config());
    raw_ = std::make_unique<RegistryFile>(std::move(file.value()));
  }
  ~Fabric() {
    raw_.reset();
    for (auto& member : members_) member.reset();
  }
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  void claim(std::size_t who, Claim wanted);
  void listen(std::size_t which);
  void release(std::size_t which);
  void ask(const Claim& about);
  void begin_anew(std::size_t who);
  void look(std::size_t who) {
    const auto others = members_[who]->others();
    CM_ASSERT(strange() || others == std::vector{members_[1 - who]->slot()});
  }
  void change(std::uint32_t at, std::uint32_t value);

 private:
  struct Owned {
    std::size_t who;
    soft::ClaimId id;
    soft::ClaimId model;
    Claim claim;
    bool listening = false;
  };
  [[nodiscard]] bool strange() const { return stranger_ == Stranger::kWrites; }
  [[nodiscard]] bool serves(const Owned& owned, const Claim& asked) const {
    return owned.listening && owned.claim.space == asked.space &&
           owned.claim.local.port == asked.local.port;
  }

  Stranger stranger_;
  Fixed random_;
  std::array<std::unique_ptr<Registry>, 2> members_;
  std::unique_ptr<RegistryFile> raw_;
  soft::LocalPortTable model_{random_};
  std::vector<Owned> owned_;
};

void Fabric::claim(std::size_t who, Claim wanted) {
  const auto got = members_[who]->claim(wanted);
  if (got) wanted.local.port = got->port;  // perhaps one that it has chosen
  const auto expected = model_.claim(wanted);
  if (!strange()) {
    CM_ASSERT(got.has_value() == expected.has_value());
    CM_ASSERT(got || got.error().value() == expected.error().value());
  }
  if (got && expected) owned_.push_back({who, got->id, expected->id, wanted});
}

void Fabric::listen(std::size_t which) {
  if (owned_.empty()) return;
  Owned& owned = owned_[which % owned_.size()];
  const auto got = members_[owned.who]->listen(owned.id);
  const auto expected = model_.listen(owned.model);
  CM_ASSERT(strange() || got.has_value() == expected.has_value());
  if (got) owned.listening = true;
}

void Fabric::release(std::size_t which) {
  if (owned_.empty()) return;
  const auto at = owned_.begin() + static_cast<std::ptrdiff_t>(which % owned_.size());
  members_[at->who]->release(at->id);
  model_.release(at->model);
  owned_.erase(at);
}

void Fabric::ask(const Claim& about) {
  const auto got = members_[0]->listener(about.space, about.local);
  if (strange()) return;
  CM_ASSERT(got.has_value() ==
            std::ranges::any_of(owned_, [&](const Owned& one) { return serves(one, about); }));
  CM_ASSERT(!got || std::ranges::any_of(owned_, [&](const Owned& one) {
    return serves(one, about) && members_[one.who]->slot() == *got;
  }));
}

void Fabric::begin_anew(std::size_t who) {
  std::erase_if(owned_, [&](const Owned& owned) {
    if (owned.who == who) model_.release(owned.model);
    return owned.who == who;
  });
  members_[who]->leave();
  auto joined = Registry::join(config(), random_);
  CM_ASSERT(joined.has_value());
  members_[who] = std::move(*joined);
}

/// Where it matters: counters, what two slots say, lists, and the first records.
void Fabric::change(std::uint32_t at, std::uint32_t value) {
  if (!strange()) return;
  RegistryImage& image = raw_->image();
  const auto write = [value](void* base, std::size_t offset) {
    std::memcpy(static_cast<std::uint8_t*>(base) + offset, &value, sizeof value);
  };
  const std::uint32_t where = at >> 8;
  switch (at % 4) {
    case 0:
      write(&image.incarnations, where % 4 * sizeof value);
      break;
    case 1:
      write(image.slots, where % (kSlotCount * sizeof(SlotRecord) / 4) * 4);
      break;
    case 2:
      image.buckets[where % 2 == 0 ? 5000 % kPortBuckets : where % kPortBuckets] = value;
      break;
    default:
      if (PortRecord* const port = raw_->port(where % 8))
        write(port, (where >> 3) % (sizeof(PortRecord) / 4) * 4);
      break;
  }
}

int run(const std::uint8_t* data, std::size_t size, Stranger stranger) {
  Fabric fabric(stranger);
  Script script({data, size});
  while (!script.over()) {
    const std::uint32_t step = script.byte();
    const std::size_t who = step >> 3 & 1;
    switch (step % 8) {
      case 0:
      case 1:
        fabric.claim(who, draw_claim(script));
        break;
      case 2:
        fabric.listen(step >> 3);
        break;
      case 3:
        fabric.release(step >> 3);
        break;
      case 4:
        fabric.ask(draw_claim(script));
        break;
      case 5:
        fabric.look(who);
        break;
      case 6:
        fabric.begin_anew(who);
        break;
      default: {
        const std::uint32_t at = script.word();
        fabric.change(at, step >> 3 & 2 ? script.word() : script.byte());
        break;
      }
    }
  }
  return 0;
}

}  // namespace

int fuzz_registry(const std::uint8_t* data, std::size_t size) {
  return run(data, size, Stranger::kNone);
}

int fuzz_registry_attack(const std::uint8_t* data, std::size_t size) {
  return run(data, size, Stranger::kWrites);
}

}  // namespace anyrdma::transport::fabric::fuzz
