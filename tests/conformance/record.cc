#include "tests/conformance/record.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace anyrdma::conformance {
namespace {

constexpr std::size_t kRunWorthCounting = 4;

void append(std::vector<std::string>& to, std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

/// Appends words to a text, with spaces between them.
void add_word(std::string& text, const std::string& word) {
  if (!text.empty()) text += ' ';
  text += word;
}

std::string byte_text(std::uint8_t byte) {
  std::array<char, 3> text{};
  (void)std::snprintf(text.data(), text.size(), "%02x", byte);
  return text.data();
}

bool is_plain(std::uint8_t byte) {
  return byte > ' ' && byte < 0x7f;
}

template <std::size_t N>
std::string name_in(const std::array<std::string_view, N>& names, int value) {
  const auto index = static_cast<std::size_t>(value);
  return value >= 0 && index < N ? std::string(names[index]) : std::to_string(value);
}

}  // namespace

void Record::add(Side side, std::string line) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string>& apart = side == Side::kPassive ? server_ : client_;
  (apart_ ? apart : lines_).push_back(std::move(line));
}

void Record::begin_apart() {
  const std::lock_guard lock(mutex_);
  apart_ = true;
}

void Record::end_apart() {
  const std::lock_guard lock(mutex_);
  append(lines_, server_);
  append(lines_, client_);
  apart_ = false;
}

std::vector<std::string> Record::lines_so_far() const {
  std::vector<std::string> all = lines_;
  all.insert(all.end(), server_.begin(), server_.end());
  all.insert(all.end(), client_.begin(), client_.end());
  return all;
}

std::vector<std::string> Record::take_back(std::size_t first) {
  const std::lock_guard lock(mutex_);
  const auto from = lines_.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<std::string> taken(from, lines_.end());
  lines_.erase(from, lines_.end());
  return taken;
}

std::string error_text(int error) {
  if (error == 0) return "ok";
  const char* const name = strerrorname_np(error);
  return name != nullptr ? name : std::to_string(error);
}

std::string status_text(int status) {
  if (status == 0) return {};
  return status < 0 ? "-" + error_text(-status) : std::to_string(status);
}

std::string bytes_text(std::span<const std::uint8_t> bytes) {
  std::string text;
  std::string word;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at;
    while (end < bytes.size() && bytes[end] == bytes[at]) ++end;
    const bool plain = is_plain(bytes[at]);
    const std::string one =
        plain ? std::string(1, static_cast<char>(bytes[at])) : byte_text(bytes[at]);
    if (end - at >= kRunWorthCounting || !plain) {
      if (!word.empty()) add_word(text, std::exchange(word, {}));
      add_word(text, end - at == 1 ? one : one + "*" + std::to_string(end - at));
    } else {
      for (std::size_t i = at; i < end; ++i) word += one;
    }
    at = end;
  }
  if (!word.empty()) add_word(text, word);
  return text;
}

std::string event_text(rdma_cm_event_type type) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST",
       "CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED",
       "DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE",
       "TIMEWAIT_EXIT"});
  return name_in(kNames, type);
}

std::string qp_state_text(ibv_qp_state state) {
  return name_in(
      std::to_array<std::string_view>({"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}), state);
}

std::string completion_text(ibv_wc_status status) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR",
       "MW_BIND_ERR", "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR",
       "REM_OP_ERR", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR"});
  return name_in(kNames, status);
}

std::string opcode_text(ibv_wc_opcode opcode) {
  if (opcode == IBV_WC_RECV) return "RECV";
  if (opcode == IBV_WC_RECV_RDMA_WITH_IMM) return "RECV_RDMA_WITH_IMM";
  if (opcode == IBV_WC_ATOMIC_WRITE) return "ATOMIC_WRITE";
  constexpr auto kNames = std::to_array<std::string_view>(
      {"SEND", "RDMA_WRITE", "RDMA_READ", "COMP_SWAP", "FETCH_ADD", "BIND_MW", "LOCAL_INV"});
  return name_in(kNames, opcode);
}

std::string duration_text(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  if (ms % 1000 == 0) return std::to_string(ms / 1000) + "s";
  if (ms < 1000) return std::to_string(ms) + "ms";
  std::string text = std::to_string(ms / 1000) + "." + std::to_string(1000 + ms % 1000).substr(1);
  while (text.back() == '0') text.pop_back();
  return text + "s";
}

}  // namespace anyrdma::conformance
