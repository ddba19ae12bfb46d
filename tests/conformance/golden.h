// The committed records: what each scenario showed, and on which backend.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

using Lines = std::vector<std::string>;

struct Golden {
  std::string origin;  ///< the backend that showed it; a kernel's wherever one can
  Lines lines;
};
/// By full name of the scenario.
using Goldens = std::map<std::string, Golden>;

/// One file of records, as text: "== group/name (origin)", then its lines. `problem` says what is
/// wrong with the first bad line, if any is.
[[nodiscard]] Goldens parse_records(std::string_view text, std::string& problem);
[[nodiscard]] std::string records_text(const Goldens& goldens, std::string_view group);

/// All files of a folder, one per group. Problems are named with their file.
[[nodiscard]] Goldens load_records(const std::string& folder, std::string& problem);
/// Rewrites the files.
void save_records(const std::string& folder, const Goldens& goldens);

/// How `actual` differs: "-line" is missing, "+line" is new, in order; empty: it does not.
[[nodiscard]] Lines difference(const Lines& golden, const Lines& actual);

}  // namespace anyrdma::conformance
