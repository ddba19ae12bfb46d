#include "recording/view/names.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cstring>
#include <limits>

#include "recording/enumerators.h"
#include "transport/event_name.h"

namespace anyrdma::recording {
namespace {

constexpr std::array<std::string_view, 20> kAsyncEvents{"CQ_ERR",
                                                        "QP_FATAL",
                                                        "QP_REQ_ERR",
                                                        "QP_ACCESS_ERR",
                                                        "COMM_EST",
                                                        "SQ_DRAINED",
                                                        "PATH_MIG",
                                                        "PATH_MIG_ERR",
                                                        "DEVICE_FATAL",
                                                        "PORT_ACTIVE",
                                                        "PORT_ERR",
                                                        "LID_CHANGE",
                                                        "PKEY_CHANGE",
                                                        "SM_CHANGE",
                                                        "SRQ_ERR",
                                                        "SRQ_LIMIT_REACHED",
                                                        "QP_LAST_WQE_REACHED",
                                                        "CLIENT_REREGISTER",
                                                        "GID_CHANGE",
                                                        "WQ_FATAL"};

constexpr std::array<std::string_view, 24> kStatuses{"SUCCESS",
                                                     "LOC_LEN_ERR",
                                                     "LOC_QP_OP_ERR",
                                                     "LOC_EEC_OP_ERR",
                                                     "LOC_PROT_ERR",
                                                     "WR_FLUSH_ERR",
                                                     "MW_BIND_ERR",
                                                     "BAD_RESP_ERR",
                                                     "LOC_ACCESS_ERR",
                                                     "REM_INV_REQ_ERR",
                                                     "REM_ACCESS_ERR",
                                                     "REM_OP_ERR",
                                                     "RETRY_EXC_ERR",
                                                     "RNR_RETRY_EXC_ERR",
                                                     "LOC_RDD_VIOL_ERR",
                                                     "REM_INV_RD_REQ_ERR",
                                                     "REM_ABORT_ERR",
                                                     "INV_EECN_ERR",
                                                     "INV_EEC_STATE_ERR",
                                                     "FATAL_ERR",
                                                     "RESP_TIMEOUT_ERR",
                                                     "GENERAL_ERR",
                                                     "TM_ERR",
                                                     "TM_RNDV_INCOMPLETE"};

struct Opcode {
  ibv_wc_opcode opcode;
  std::string_view name;
};
constexpr Opcode kOpcodes[] = {
    {IBV_WC_SEND, "SEND"},
    {IBV_WC_RDMA_WRITE, "RDMA_WRITE"},
    {IBV_WC_RDMA_READ, "RDMA_READ"},
    {IBV_WC_COMP_SWAP, "COMP_SWAP"},
    {IBV_WC_FETCH_ADD, "FETCH_ADD"},
    {IBV_WC_BIND_MW, "BIND_MW"},
    {IBV_WC_LOCAL_INV, "LOCAL_INV"},
    {IBV_WC_TSO, "TSO"},
    {IBV_WC_ATOMIC_WRITE, "ATOMIC_WRITE"},
    {IBV_WC_RECV, "RECV"},
    {IBV_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM"},
};

template <std::size_t kCount>
std::string name_in(const std::array<std::string_view, kCount>& names, std::uint64_t number,
                    const char* prefix) {
  return prefix + (number < kCount ? std::string(names[number]) : std::to_string(number));
}

}  // namespace

std::string cm_event_name(std::uint64_t type) {
  if (type > kLastCmEvent) return "RDMA_CM_EVENT_" + std::to_string(type);
  return transport::event_name(static_cast<rdma_cm_event_type>(type));
}

std::string async_event_name(std::uint64_t type) {
  return name_in(kAsyncEvents, type, "IBV_EVENT_");
}

std::string completion_name(std::uint64_t opcode) {
  for (const Opcode& each : kOpcodes) {
    if (static_cast<std::uint64_t>(each.opcode) == opcode)
      return "IBV_WC_" + std::string(each.name);
  }
  return "IBV_WC_" + std::to_string(opcode);
}

std::string completion_status(std::uint64_t status) {
  return name_in(kStatuses, status, "IBV_WC_");
}

std::string call_name(std::string_view call) {
  return "rdma_" + std::string(call) + (call == "destroy" ? "_id" : "");
}

std::string result_text(std::uint64_t error) {
  if (error == 0) return "0";
  const bool sane = error < static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  const char* const name = sane ? ::strerrorname_np(static_cast<int>(error)) : nullptr;
  return "-1 " + (name == nullptr ? std::to_string(error) : std::string(name));
}

}  // namespace anyrdma::recording
