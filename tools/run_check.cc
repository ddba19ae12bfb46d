#include "tools/run_check.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/process_check.h"
#include "tools/start.h"

namespace anyrdma::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".recording";

}  // namespace

std::unique_ptr<RunCheck> RunCheck::begin(const std::string& record) {
  if (!record.empty()) return std::unique_ptr<RunCheck>(new RunCheck(record, false));
  std::error_code error;
  std::string directory = (fs::temp_directory_path(error) / "anyrdma-check.XXXXXX").string();
  if (error || ::mkdtemp(directory.data()) == nullptr) {
    say("--check has no place for recordings: '" + directory +
        "' cannot be created: " + (error ? error.message() : std::strerror(errno)) +
        ". Set TMPDIR to a directory where you may write, or give one with --record.");
    return nullptr;
  }
  return std::unique_ptr<RunCheck>(new RunCheck(directory, true));
}

RunCheck::RunCheck(std::string record, bool own)
    : record_(std::move(record)), own_(own), before_(recordings()) {
  before_.erase(record_);  // a file, which is empty now
}

RunCheck::~RunCheck() {
  std::error_code error;
  if (own_) fs::remove_all(record_, error);
}

std::set<std::string> RunCheck::recordings() const {
  std::set<std::string> found;
  std::error_code error;
  const bool is_directory = fs::is_directory(record_, error);
  const fs::path where = is_directory ? fs::path(record_) : fs::path(record_).parent_path();
  for (const auto& each : fs::directory_iterator(where, error)) {
    const std::string name = each.path().string();
    const bool is_one =
        is_directory ? name.ends_with(kEnding) : name == record_ || name.starts_with(record_ + ".");
    if (is_one && fs::file_size(each.path(), error) != 0 && !error) found.insert(name);
  }
  return found;
}

bool RunCheck::finish() const {
  const std::set<std::string> now = recordings();
  std::vector<std::string> paths;
  std::ranges::set_difference(now, before_, std::back_inserter(paths));
  if (paths.empty()) {
    say("not judged: the program, since none of its processes has used RDMA.");
    return true;
  }
  const ProcessJudgement judged = judge_processes(paths, Taken::kEnded);
  for (const std::string& each : judged.remarks) say(each);
  for (const std::string& each : judged.findings) std::fprintf(stderr, "%s\n", each.c_str());
  for (const std::string& each : judged.unjudged) say("not judged: " + each + ".");
  return judged.findings.empty();
}

}  // namespace anyrdma::tools
