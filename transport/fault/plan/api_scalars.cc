// The words of what happens to calls, work and queues.
#include <array>
#include <charconv>
#include <cstring>  // strerrorname_np

#include "base/number.h"
#include "transport/fault/plan/scalars.h"
#include "verbs/assert.h"

namespace anyrdma::fault {
namespace {

template <class Value>
struct Name {
  Value value;
  std::string_view name;
};

constexpr auto kOpcodes = std::to_array<Name<ibv_wc_opcode>>({{IBV_WC_SEND, "SEND"},
                                                              {IBV_WC_RDMA_WRITE, "RDMA_WRITE"},
                                                              {IBV_WC_RDMA_READ, "RDMA_READ"},
                                                              {IBV_WC_COMP_SWAP, "COMP_SWAP"},
                                                              {IBV_WC_FETCH_ADD, "FETCH_ADD"},
                                                              {IBV_WC_ATOMIC_WRITE, "ATOMIC_WRITE"},
                                                              {IBV_WC_BIND_MW, "BIND_MW"},
                                                              {IBV_WC_LOCAL_INV, "LOCAL_INV"},
                                                              {IBV_WC_RECV, "RECV"}});

// Those of ibv_wc_status that a reliable connection or a datagram has; which of them a plan can
// have, legal.h says.
constexpr auto kStatuses = std::to_array<Name<ibv_wc_status>>({
    {IBV_WC_LOC_LEN_ERR, "LOC_LEN_ERR"},
    {IBV_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR"},
    {IBV_WC_LOC_PROT_ERR, "LOC_PROT_ERR"},
    {IBV_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR"},
    {IBV_WC_MW_BIND_ERR, "MW_BIND_ERR"},
    {IBV_WC_BAD_RESP_ERR, "BAD_RESP_ERR"},
    {IBV_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR"},
    {IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR"},
    {IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR"},
    {IBV_WC_REM_OP_ERR, "REM_OP_ERR"},
    {IBV_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR"},
    {IBV_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR"},
    {IBV_WC_REM_ABORT_ERR, "REM_ABORT_ERR"},
    {IBV_WC_FATAL_ERR, "FATAL_ERR"},
    {IBV_WC_RESP_TIMEOUT_ERR, "RESP_TIMEOUT_ERR"},
    {IBV_WC_GENERAL_ERR, "GENERAL_ERR"},
});

constexpr auto kEvents =
    std::to_array<Name<ibv_event_type>>({{IBV_EVENT_QP_FATAL, "QP_FATAL"},
                                         {IBV_EVENT_QP_REQ_ERR, "QP_REQ_ERR"},
                                         {IBV_EVENT_QP_ACCESS_ERR, "QP_ACCESS_ERR"}});

template <class Names, class Value>
std::string name_in(const Names& names, Value value) {
  for (const auto& row : names) {
    if (row.value == value) return std::string(row.name);
  }
  return "?";
}

template <class Names, class Value>
std::string find_in(const Names& names, std::string_view what, std::string_view word,
                    Value& value) {
  for (const auto& row : names) {
    if (row.name != word) continue;
    value = row.value;
    return "";
  }
  return "no such " + std::string(what) + " " + in_quotes(word);
}

}  // namespace

std::string word_of(const Errno& error) {
  const char* name = ::strerrorname_np(error.value);
  return name == nullptr ? "?" : name;
}

std::string parse_word(std::string_view, std::string_view word, Errno& error) {
  constexpr int kErrnoMax = 133;
  for (int value = 1; value <= kErrnoMax; ++value) {
    if (word_of(Errno{value}) != word) continue;
    error.value = value;
    return "";
  }
  return "no such errno " + in_quotes(word);
}

std::string word_of(ibv_wc_opcode opcode) {
  return name_in(kOpcodes, opcode);
}

std::string parse_word(std::string_view key, std::string_view word, ibv_wc_opcode& opcode) {
  return find_in(kOpcodes, key, word, opcode);
}

std::string word_of(ibv_wc_status status) {
  return name_in(kStatuses, status);
}

std::string parse_word(std::string_view key, std::string_view word, ibv_wc_status& status) {
  return find_in(kStatuses, key, word, status);
}

std::string word_of(ibv_event_type event) {
  return name_in(kEvents, event);
}

std::string parse_word(std::string_view key, std::string_view word, ibv_event_type& event) {
  return find_in(kEvents, key, word, event);
}

ibv_event_type device_event(std::string_view name) {
  static constexpr auto kDevices =
      std::to_array<Name<ibv_event_type>>({{IBV_EVENT_PKEY_CHANGE, "PKEY_CHANGE"},
                                           {IBV_EVENT_LID_CHANGE, "LID_CHANGE"},
                                           {IBV_EVENT_SM_CHANGE, "SM_CHANGE"},
                                           {IBV_EVENT_CLIENT_REREGISTER, "CLIENT_REREGISTER"},
                                           {IBV_EVENT_GID_CHANGE, "GID_CHANGE"},
                                           {IBV_EVENT_DEVICE_FATAL, "DEVICE_FATAL"}});
  ibv_event_type event{};
  const std::string problem = find_in(kDevices, "event", name, event);
  CM_ASSERT(problem.empty());
  return event;
}

// --- objects ------------------------------------------------------------------------------------

std::string word_of(std::string_view kind, const ObjectName& name) {
  std::string text(kind);
  if (name.made != 0) return text + std::to_string(name.made);
  std::array<char, 8> digits{};
  char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), name.number, 16).ptr;
  return text + "0x" + std::string(digits.data(), end);
}

std::string parse_object(std::string_view kind, std::string_view word, ObjectName& name) {
  constexpr std::uint32_t kNumberMax = 0xffffff;
  std::string_view digits = word;
  if (digits.starts_with(kind)) digits.remove_prefix(kind.size());
  name = {};
  if (kind == "qp" && digits.starts_with("0x")) {
    digits.remove_prefix(2);
    name.number = whole_number<decltype(name.number)>(digits, 16).value_or(0);
  } else if (!parse_number(digits, name.made)) {
    name.made = 0;
  }
  const bool named = name.made != 0 || (name.number != 0 && name.number <= kNumberMax);
  if (named && word.starts_with(kind)) return "";
  return in_quotes(word) + " is no " + std::string(kind) + ": " + std::string(kind) +
         "2 is the second made there" + (kind == "qp" ? ", qp0x11 the one of that number" : "");
}

}  // namespace anyrdma::fault
