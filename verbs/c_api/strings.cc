// Names of enumerators, word for word as rdma-core prints them: programs compare and log them.
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>

#include "verbs/c_api/newer_functions.h"

namespace {

/// The entry of a table whose row is the enumerator's value.
template <std::size_t N>
const char* name_of(const std::array<const char*, N>& table, int value) {
  const bool known = value >= 0 && static_cast<std::size_t>(value) < N;
  return known ? table[static_cast<std::size_t>(value)] : "unknown";
}

constexpr std::array kWcStatus{
    "success",
    "local length error",
    "local QP operation error",
    "local EE context operation error",
    "local protection error",
    "Work Request Flushed Error",
    "memory management operation error",
    "bad response error",
    "local access error",
    "remote invalid request error",
    "remote access error",
    "remote operation error",
    "transport retry counter exceeded",
    "RNR retry counter exceeded",
    "local RDD violation error",
    "remote invalid RD request",
    "aborted error",
    "invalid EE context number",
    "invalid EE context state",
    "fatal error",
    "response timeout error",
    "general error",
    "TM error",
    "TM software rendezvous",
};

constexpr std::array kNodeType{
    "unknown",  // 0 is no node type
    "InfiniBand channel adapter",
    "InfiniBand switch",
    "InfiniBand router",
    "iWARP NIC",
    "usNIC",
    "usNIC UDP",
    "unspecified",
};

constexpr std::array kPortState{
    "no state change (NOP)", "down", "init", "armed", "active", "active defer",
};

constexpr std::array kEventType{
    "CQ error",
    "local work queue catastrophic error",
    "invalid request local work queue error",
    "local access violation work queue error",
    "communication established",
    "send queue drained",
    "path migrated",
    "path migration request error",
    "local catastrophic error",
    "port active",
    "port error",
    "LID change",
    "P_Key change",
    "SM change",
    "SRQ catastrophic error",
    "SRQ limit reached",
    "last WQE reached",
    "client reregistration",
    "GID table change",
    "WQ fatal",
    "Device link speed change",  // since rdma-core 62
};

// 12 and 13 are nobody's.
constexpr std::array kWrOpcode{
    "rdma-write",
    "rdma-write-with-imm",
    "send",
    "send-with-imm",
    "rdma-read",
    "atomic-cmp-and-swp",
    "atomic-fetch-and-add",
    "local-inv",
    "bind-mw",
    "send-with-inv",
    "tso",
    "driver1",
    "unknown",
    "unknown",
    "flush",
    "atomic-write",
};

}  // namespace

extern "C" {

const char* ibv_wc_status_str(ibv_wc_status status) {
  return name_of(kWcStatus, status);
}

const char* ibv_node_type_str(ibv_node_type node_type) {
  return name_of(kNodeType, node_type);
}

const char* ibv_port_state_str(ibv_port_state port_state) {
  return name_of(kPortState, port_state);
}

const char* ibv_wr_opcode_str(ibv_wr_opcode opcode) {
  return name_of(kWrOpcode, static_cast<int>(opcode));
}

const char* ibv_event_type_str(ibv_event_type event) {
  return name_of(kEventType, event);
}

}  // extern "C"
