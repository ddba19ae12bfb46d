// Where a backend differs from the records, and why: data, in deviations.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/conformance/golden.h"

namespace anyrdma::conformance {

/// A reason, and the differences that it explains.
struct Deviation {
  std::string name;    ///< short, as the matrix shows it: "D3"
  std::string reason;  ///< why the backend differs from the kernel, or the kernel from the manual
  std::string link;    ///< where that is visible: a public address, or "rdma_accept(3)"
};

/// One scenario on one backend.
struct Difference {
  std::size_t deviation = 0;  ///< index into Deviations::all
  bool not_run = false;       ///< it cannot be performed there at all
  Lines lines;                ///< as difference() gives them
};

struct Deviations {
  std::vector<Deviation> all;
  /// By scenario's full name and backend.
  std::map<std::pair<std::string, std::string>, Difference> differences;

  /// Null: none is listed.
  [[nodiscard]] const Difference* find(const std::string& scenario, std::string_view backend) const;
};

/// Strict: unknown members, scenarios and backends, doubles and empty texts are refused. `problem`
/// says what is wrong, if anything is.
[[nodiscard]] Deviations parse_deviations(std::string_view text, std::string& problem);

/// A difference as the table has it.
[[nodiscard]] std::string difference_text(const std::string& scenario, std::string_view backend,
                                          const Lines& lines);

}  // namespace anyrdma::conformance
