// What the responder does to the application's memory: at once, or when DelayedEffects has it.
#include "verbs/soft/ownership.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/races.h"
#include "verbs/soft/responder.h"

namespace anyrdma::verbs::soft {

bool Responder::store(std::uint8_t* to, std::span<const std::uint8_t> bytes, bool first) {
  if (qp_.core.races != nullptr)
    qp_.core.races->on_remote(qp_, to, bytes.size(), Races::Access::kWrite);
  if (qp_.effects) return qp_.effects->write(to, bytes, first, write_key_);
  return qp_.core.memory.copy(to, bytes.data(), bytes.size());  // a lent payload may overlap
}

bool Responder::carry_out(void* at, const AtomicRequest& request, std::uint64_t& original,
                          std::uint32_t& ticket) {
  if (qp_.core.races != nullptr)
    qp_.core.races->on_remote(qp_, at, sizeof original, Races::Access::kAtomic);
  if (!qp_.effects) return qp_.core.memory.touch([&] { original = execute_atomic(at, request); });
  const auto started = qp_.effects->execute(at, request, original);
  if (started) ticket = *started;
  return started.has_value();
}

// What the rest of the READ has found already; null: it reads now.
const std::uint8_t* Responder::found(const Answer& answer) const {
  const std::span<const std::uint8_t> bytes = qp_.effects->found(answer.ticket);
  return bytes.empty() ? nullptr : bytes.data() + bytes.size() - answer.remaining;
}

bool Responder::is_found(std::uint32_t ticket) const {
  return qp_.effects->ready(ticket);
}

void Responder::finish(const Answer& answer) {
  if (answer.ticket != 0) qp_.effects->forget(answer.ticket);
}

void Responder::forget_answers() {
  answers_.clear();
  reads_waiting_ = repeats_waiting_ = 0;
  if (qp_.effects) qp_.effects->forget_answers();
}

void Responder::note_unmapped(std::uint32_t key, std::uint64_t length, std::string_view what) {
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_unmapped(qp_, key, length, what);
}

void Responder::note_use(std::uint32_t key, const void* bytes, std::uint64_t length,
                         std::string_view what) {
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_peer_use(qp_, key, bytes, length, what);
}

}  // namespace anyrdma::verbs::soft
