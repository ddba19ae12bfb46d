#include "transport/fault/plan/matching.h"

#include <variant>

#include "transport/fault/plan/legal.h"
#include "verbs/overloaded.h"

namespace anyrdma::fault {

namespace {

/// What only an answer, or its lack, can cause; without acknowledgements there is none.
bool comes_from_peer(ibv_wc_status status) {
  return status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_RNR_RETRY_EXC_ERR ||
         status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_BAD_RESP_ERR;
}

bool has(const verbs::PostedWork& work, Needs needed) {
  switch (needed) {
    case Needs::kNothing:
      return true;
    case Needs::kPayload:
      return work.length != 0;
  }
  return false;
}

}  // namespace

bool counts_at_gate(const Fault& fault) {
  const auto* on = std::get_if<OnCall>(&fault.trigger);
  if (on == nullptr) return std::holds_alternative<OnCompletion>(fault.trigger);
  return std::holds_alternative<FailCall>(fault.action) || !is_call_on_id(on->call);
}

bool names_call(const OnCall& on, std::uint64_t id, std::string_view call) {
  if (on.id != 0 && on.id != id) return false;
  return on.call == call || (on.call == kAnyAllocation && makes_object(call));
}

bool befall(const FaultAction& action, verbs::Mishap& mishap) {
  return std::visit(
      verbs::Overloaded{[&](const LoseMessage&) { return mishap.lost = true; },
                        [&](const CorruptMessage&) { return mishap.corrupted = true; },
                        [&](const DuplicateMessage&) { return ++mishap.copies != 0; },
                        [&](const ReorderMessage&) { return mishap.overtaken = true; },
                        [&](const DelayMessage& delay) {
                          mishap.late += delay.by;
                          return true;
                        },
                        [](const auto&) { return false; }},
      action);
}

bool names_work(const Fault& fault, const verbs::PostedWork& work) {
  const auto* on = std::get_if<OnCompletion>(&fault.trigger);
  if (on == nullptr || on->opcode != work.opcode) return false;
  if (on->qp.made != 0 && on->qp.made != work.qp) return false;
  if (on->qp.made == 0 && on->qp.number != 0 && on->qp.number != work.qp_num) return false;
  const auto* complete = std::get_if<CompleteWork>(&fault.action);
  if (complete == nullptr) return true;
  const LegalStatus* legal = find_legal(on->opcode, complete->status);
  if (work.type == IBV_QPT_UC && comes_from_peer(complete->status)) return false;
  return (legal->datagrams || work.type != IBV_QPT_UD) && has(work, legal->needs);
}

}  // namespace anyrdma::fault
