#include "tools/run_check.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "tools/process_check.h"
#include "tools/start.h"

namespace anyrdma::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".recording";

}  // namespace

std::unique_ptr<RunCheck> RunCheck::begin(const std::string& record) {
  if (!record.empty()) return std::unique_ptr<RunCheck>(new RunCheck(record, nullptr));
  auto own = std::make_unique<sim::RunDirectory>(sim::Storage::kDisk);
  if (own->path().empty()) {
    say(std::string("--check has no place for recordings: a directory cannot be created: ") +
        std::strerror(own->error()) +
        ". Set TMPDIR to a directory where you may write, or give one with --record.");
    return nullptr;
  }
  std::string directory = own->path().string();
  return std::unique_ptr<RunCheck>(new RunCheck(std::move(directory), std::move(own)));
}

RunCheck::RunCheck(std::string record, std::unique_ptr<sim::RunDirectory> own)
    : record_(std::move(record)), own_(std::move(own)), before_(recordings()) {
  before_.erase(record_);  // a file, which is empty now
}

RunCheck::~RunCheck() = default;

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
  for (const std::string& each : judged.findings)
    std::fprintf(stderr, "%s\n", printable(each).c_str());
  for (const std::string& each : judged.unjudged) say("not judged: " + each + ".");
  return judged.findings.empty();
}

}  // namespace anyrdma::tools
