// Judges recordings of processes in real time: each by itself, and the connections between them.
#pragma once

#include <string>
#include <vector>

namespace anyrdma::tools {

struct ProcessJudgement {
  std::vector<std::string> findings;  ///< a line each: "work: client QP 17: ..."
  std::vector<std::string> unjudged;  ///< a clause each, for behind "not judged: "
  /// A sentence for each recording that was not read to its end, and how times were compared.
  std::vector<std::string> remarks;
  bool unread = false;  ///< one of the recordings cannot be read at all, or not to its end
};

/// The recordings to read.
enum class Taken : unsigned char {
  kAll,
  kEnded,  ///< not those of processes that are still running, which `unjudged` names
};

/// Reads what can be read, and judges that. At least one path.
[[nodiscard]] ProcessJudgement judge_processes(const std::vector<std::string>& paths, Taken taken);

}  // namespace anyrdma::tools
