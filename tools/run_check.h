// `anyrdma run --check`: what the checkers say of the processes of one command, at its end.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "sim/machines/run_directory.h"

namespace anyrdma::tools {

class RunCheck {
 public:
  /// `record` is where the processes record, as prepare_record_path() returned it. Empty: a new
  /// run directory, which this object removes. Null: there can be none, which has been said.
  [[nodiscard]] static std::unique_ptr<RunCheck> begin(const std::string& record);
  ~RunCheck();
  RunCheck(const RunCheck&) = delete;
  RunCheck& operator=(const RunCheck&) = delete;

  /// A directory or a file.
  [[nodiscard]] const std::string& record() const { return record_; }
  /// Judges the recordings that have come there since begin(), and prints on stderr the findings
  /// and what could not be judged, a line each. False: there are findings.
  [[nodiscard]] bool finish() const;

 private:
  RunCheck(std::string record, std::unique_ptr<sim::RunDirectory> own);
  /// The recordings there now.
  [[nodiscard]] std::set<std::string> recordings() const;

  const std::string record_;
  const std::unique_ptr<sim::RunDirectory> own_;  ///< null: `record_` is the caller's
  std::set<std::string> before_;
};

}  // namespace anyrdma::tools
