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
  bool numbers = false;  ///< of records, in front of each line
  bool json = false;
  bool raw = false;        ///< control characters are not escaped
  std::string pcapng{};    ///< a file to write instead, for Wireshark
  std::string perfetto{};  ///< likewise, for Perfetto
  std::string html{};      ///< likewise, for a browser
};

/// Prints a recording. Returns 0; or 2, after an error message, if the recording cannot be read or
/// an option is invalid.
[[nodiscard]] int trace(const TraceOptions& options);
[[nodiscard]] int trace_summary(const std::string& file);
/// Merges the recordings of several processes into the recording `out`. A directory among `files`
/// is replaced by all files in it whose names end in .recording. Returns 0; or 2, after an error
/// message, if a file cannot be read, does not belong to the others, or `out` cannot be written.
[[nodiscard]] int trace_merge(const std::string& out, const std::vector<std::string>& files);
/// Compares two recordings. Returns 0 if they are equal, 1 if they differ, 2 if one cannot be read.
/// `html`: a page to write with both side by side; empty: none.
[[nodiscard]] int trace_diff(const std::string& left, const std::string& right,
                             const std::string& html);

}  // namespace anyrdma::tools
