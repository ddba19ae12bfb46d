#include "tests/soak/step.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "tests/soak/finding.h"

namespace anyrdma::soak {
namespace {

constexpr int kPatience = 120'000;  // milliseconds for what must come
constexpr int kHope = 3'000;        // for what may be lost
constexpr std::size_t kGrh = 40;

struct Pieces {
  std::array<ibv_sge, 3> list;
  int count;
};

/// The bytes in one to three pieces, for what is gathered or scattered.
Pieces pieces_of(const Link& link, std::size_t at, std::size_t length, Dice& own) {
  Pieces pieces{};
  std::size_t left = length;
  for (int i = 0; i < 3; ++i) {
    const std::size_t size = i == 2 ? left : own.below(left + 1);
    const bool last = i == 2 || own.one_in(2);
    const std::size_t taken = last ? left : size;
    pieces.list[static_cast<std::size_t>(pieces.count++)] = {
        reinterpret_cast<std::uintptr_t>(link.memory().data()) + at,
        static_cast<std::uint32_t>(taken), link.lkey()};
    at += taken;
    left -= taken;
    if (last) break;
  }
  return pieces;
}

/// A batch as one side sees it.
class Side {
 public:
  Side(Link& link, const Batch& batch, Dice own) : link_(link), batch_(batch), own_(own) {}

  void initiate();
  void serve();
  /// Whether a message of an unreliable service was; then the queue pairs are of no use any more.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  void post();
  void await_sends();
  void post_receives();
  /// Which operations have taken their receive.
  std::vector<bool> await_receives();
  void check_receive(const ibv_wc& completion, std::size_t number);
  [[nodiscard]] bool fits(const ibv_wc& completion, const Operation& operation) const;
  void check_source();
  void check_target(const std::vector<bool>& delivered);
  /// What an operation leaves in the target's memory.
  void apply(const Operation& operation, bool delivered);
  void either(const Operation& operation, std::size_t at, std::uint8_t sent);

  [[nodiscard]] ibv_qp* qp() const { return link_.qp(batch_.service); }
  [[nodiscard]] bool is(Service service) const { return batch_.service == service; }
  /// The word that an atomic operation finds.
  [[nodiscard]] std::uint64_t word_before(const Operation& operation) const {
    return scatter(batch_.target_key ^ (operation.remote / 8));
  }

  Link& link_;
  const Batch& batch_;
  Dice own_;
  std::vector<std::uint8_t> expected_;
  bool lost_ = false;
};

// --- the initiator ------------------------------------------------------------------------------

void Side::post() {
  const std::size_t count = batch_.operations.size();
  std::array<ibv_send_wr, kDepth> requests{};
  std::array<Pieces, kDepth> pieces{};
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& operation = batch_.operations[i];
    pieces[i] = pieces_of(link_, operation.local, operation.length, own_);
    if (operation.is_atomic()) {
      pieces[i] = {{{{reinterpret_cast<std::uintptr_t>(link_.memory().data()) + operation.local, 8,
                      link_.lkey()}}},
                   1};
    }
    ibv_send_wr& request = requests[i];
    request.wr_id = i;
    request.sg_list = pieces[i].list.data();
    request.num_sge = pieces[i].count;
    request.opcode = operation.opcode;
    request.send_flags = operation.flags;
    request.imm_data = operation.immediate;
    const std::uint64_t at = link_.remote().address + operation.remote;
    if (is(Service::kDatagram)) {
      request.wr.ud = {link_.ah(), link_.datagram_peer(), kQkey};
    } else if (operation.is_atomic()) {
      request.wr.atomic = {at, operation.compare, operation.swap, link_.remote().rkey};
    } else {
      const Link::Remote& to = link_.remote();
      request.wr.rdma = {at, is(Service::kReliable) ? to.rkey : to.region_rkey};
    }
    request.next = batch_.at_once && i + 1 < count ? &requests[i + 1] : nullptr;
  }
  for (std::size_t i = 0; i < (batch_.at_once ? 1 : count); ++i) {
    ibv_send_wr* bad = nullptr;
    errno = ibv_post_send(qp(), &requests[i], &bad);
    require(errno == 0, "ibv_post_send");
  }
}

void Side::await_sends() {
  for (std::size_t i = 0; i < batch_.operations.size(); ++i) {
    if ((batch_.operations[i].flags & IBV_SEND_SIGNALED) == 0) continue;
    ibv_wc completion{};
    if (!link_.poll(completion, kPatience)) end_with(End::kWrong, "request %zu never completes", i);
    if (completion.status != IBV_WC_SUCCESS)
      end_with(End::kBroken, "request %zu: %s", i, ibv_wc_status_str(completion.status));
    if (completion.wr_id != i) {
      end_with(End::kWrong, "request %zu and not %zu completes",
               static_cast<std::size_t>(completion.wr_id), i);
    }
  }
}

void Side::check_source() {
  expected_.assign(link_.memory().size(), 0);
  fill(expected_, batch_.source_key);
  for (const Operation& operation : batch_.operations) {
    const Bytes local = Bytes(expected_).subspan(operation.local, operation.length);
    if (operation.opcode == IBV_WR_RDMA_READ) fill(local, batch_.target_key, operation.remote);
    if (!operation.is_atomic()) continue;
    const std::uint64_t before = word_before(operation);
    std::memcpy(local.data(), &before, sizeof before);
  }
  const std::string wrong = difference(link_.memory(), expected_);
  if (!wrong.empty()) end_with(End::kWrong, "the initiator's memory: %s", wrong.c_str());
}

void Side::initiate() {
  fill(link_.memory(), batch_.source_key);
  if (batch_.spoil) fill(link_.memory(), ~batch_.source_key);
  link_.meet();
  post();
  await_sends();
  if (batch_.spoil) fill(link_.memory(), batch_.source_key);
  link_.meet();
  if (!batch_.spoil) check_source();
}

// --- the target ---------------------------------------------------------------------------------

void Side::post_receives() {
  for (std::size_t i = 0; i < batch_.operations.size(); ++i) {
    const Operation& operation = batch_.operations[i];
    if (!operation.takes_a_receive()) continue;
    const std::size_t grh = is(Service::kDatagram) ? kGrh : 0;
    Pieces pieces{};
    if (operation.is_send()) {
      pieces =
          pieces_of(link_, operation.remote - grh, operation.length + operation.slack + grh, own_);
    }
    ibv_recv_wr request{};
    request.wr_id = i;
    request.sg_list = pieces.list.data();
    request.num_sge = pieces.count;
    ibv_recv_wr* bad = nullptr;
    errno = ibv_post_recv(qp(), &request, &bad);
    require(errno == 0, "ibv_post_recv");
  }
}

std::vector<bool> Side::await_receives() {
  std::vector<bool> delivered(batch_.operations.size());
  for (std::size_t i = 0; i < delivered.size() && !lost_; ++i) {
    if (!batch_.operations[i].takes_a_receive()) continue;
    ibv_wc completion{};
    if (!link_.poll(completion, is(Service::kReliable) ? kPatience : kHope)) {
      if (is(Service::kReliable)) end_with(End::kWrong, "receive %zu never completes", i);
      lost_ = true;
      break;
    }
    if (completion.status != IBV_WC_SUCCESS)
      end_with(End::kBroken, "receive %zu: %s", i, ibv_wc_status_str(completion.status));
    if (completion.wr_id != i) {
      end_with(End::kWrong, "receive %zu and not %zu completes",
               static_cast<std::size_t>(completion.wr_id), i);
    }
    check_receive(completion, i);
    delivered[i] = true;
  }
  return delivered;
}

bool Side::fits(const ibv_wc& completion, const Operation& operation) const {
  const bool with_immediate = operation.opcode != IBV_WR_SEND;
  const std::size_t length = operation.length + (is(Service::kDatagram) ? kGrh : 0);
  if (completion.byte_len != length) return false;
  if (((completion.wc_flags & IBV_WC_WITH_IMM) != 0) != with_immediate) return false;
  return !with_immediate || completion.imm_data == operation.immediate;
}

/// A receive of an unreliable service may hold a later message, if some before it were lost.
void Side::check_receive(const ibv_wc& completion, std::size_t number) {
  const std::span<const Operation> later = std::span(batch_.operations).subspan(number);
  if (fits(completion, later.front())) return;
  lost_ = !is(Service::kReliable) && std::ranges::any_of(later, [&](const Operation& operation) {
    return operation.takes_a_receive() && fits(completion, operation);
  });
  if (lost_) return;
  end_with(End::kWrong, "receive %zu: %u bytes and not %zu, immediate %#x and not %#x, flags %#x",
           number, completion.byte_len, later.front().length, completion.imm_data,
           later.front().immediate, completion.wc_flags);
}

void Side::either(const Operation& operation, std::size_t at, std::uint8_t sent) {
  std::uint8_t& byte = expected_[operation.remote + at];
  if (link_.memory()[operation.remote + at] == sent) byte = sent;
}

void Side::apply(const Operation& operation, bool delivered) {
  if (operation.opcode == IBV_WR_RDMA_READ) return;
  const Bytes target = Bytes(expected_).subspan(operation.remote, operation.length);
  if (operation.is_atomic()) {
    const std::uint64_t before = word_before(operation);
    const bool swaps = before == operation.compare;
    const std::uint64_t after = operation.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD
                                    ? before + operation.compare
                                : swaps ? operation.swap
                                        : before;
    std::memcpy(target.data(), &after, sizeof after);
    return;
  }
  const bool known = is(Service::kReliable) || delivered;
  if (known) fill(target, batch_.source_key, operation.local);
  if (!known) {
    for (std::size_t i = 0; i < operation.length; ++i)
      either(operation, i, pattern_at(batch_.source_key, operation.local + i));
  }
  if (is(Service::kDatagram))  // a header whose content is the device's affair
    std::copy_n(link_.memory().begin() + static_cast<std::ptrdiff_t>(operation.remote - kGrh), kGrh,
                expected_.begin() + static_cast<std::ptrdiff_t>(operation.remote - kGrh));
}

void Side::check_target(const std::vector<bool>& delivered) {
  expected_.assign(link_.memory().size(), 0);
  fill(expected_, batch_.target_key);
  for (std::size_t i = 0; i < delivered.size(); ++i) apply(batch_.operations[i], delivered[i]);
  const std::string wrong = difference(link_.memory(), expected_);
  if (!wrong.empty()) end_with(End::kWrong, "the target's memory: %s", wrong.c_str());
}

void Side::serve() {
  fill(link_.memory(), batch_.target_key);
  post_receives();
  link_.meet();
  link_.meet();  // the initiator has its completions
  const std::vector<bool> delivered = await_receives();
  if (!lost_) check_target(delivered);
}

}  // namespace

void carry_out(Link& link, Role role, const Batch& batch, Dice own) {
  Side side(link, batch, own);
  role == batch.initiator ? side.initiate() : side.serve();
  if (side.lost()) totals().lost += 1;
  const bool theirs = link.swap(side.lost() ? 1 : 0) != 0;
  if (theirs || side.lost()) link.renew_unreliable();
  if (role != batch.initiator) return;
  totals().steps += 1;
  totals().messages += batch.operations.size();
  for (const Operation& operation : batch.operations) totals().bytes += operation.length;
}

}  // namespace anyrdma::soak
