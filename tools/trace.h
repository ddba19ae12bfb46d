// `anyrdma trace`: what a recording shows.
#pragma once

#include <string>
#include <vector>

namespace anyrdma::tools {

struct TraceOptions {
  std::string file{};
  std::vector<std::string> hosts{};
  std::vector<std::string> ids{};          ///< "client#1"
  std::vector<std::string> queue_pairs{};  ///< "client#qp0x11", "0x11"
  std::vector<std::string> kinds{};        ///< "message"
  std::string from{};                      ///< of the recording's time, "10ms"
  std::string to{};
  bool json = false;
  std::string pcapng{};    ///< a file to write instead, for Wireshark
  std::string perfetto{};  ///< likewise, for Perfetto
  std::string html{};      ///< likewise, for a browser
};

/// Prints it. As diff(1): 0; 2: it cannot be read, or an option makes no sense, which has been
/// said.
[[nodiscard]] int trace(const TraceOptions& options);
[[nodiscard]] int trace_summary(const std::string& file);
/// Makes one recording, `out`, of those of several processes; a directory among `files` is all that
/// end with .recording in it. 0; 2: one cannot be read or does not belong to the others, or `out`
/// cannot be written, which has been said.
[[nodiscard]] int trace_merge(const std::string& out, const std::vector<std::string>& files);
/// 0: two recordings are alike; 1: they are not; 2: one cannot be read. `html`: a page to write as
/// well, of both beside each other; empty: none.
[[nodiscard]] int trace_diff(const std::string& left, const std::string& right,
                             const std::string& html);

}  // namespace anyrdma::tools
