#include "tools/core_files.h"

#include <system_error>

#include "sim/debug/core/cores.h"
#include "tools/start.h"
#include "tools/words.h"

namespace anyrdma::tools {

std::optional<CoreFiles> CoreFiles::create(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directory(directory, error);
  if (!error && std::filesystem::is_directory(directory, error)) return CoreFiles(directory);
  say("--core '" + directory + "' is not usable as a directory" +
      (error ? ": " + error.message() + "." : ": it is a file. Name a directory."));
  return std::nullopt;
}

void CoreFiles::take_failure(const sim::programs::Sandbox& sandbox, std::string_view thread) {
  if (lines_) return;
  lines_.emplace();
  const auto cores = sim::debug::write_cores(sandbox, directory_, thread);
  if (!cores) {
    *lines_ = "core: " + cores.error().sentence + "\n";
    return;
  }
  for (const sim::debug::Core& each : *cores)
    *lines_ += "core: gdb " + shell_word(each.program) + " " + shell_word(each.path) + "\n";
}

std::string CoreFiles::lines() const {
  if (lines_ && !lines_->empty()) return *lines_;
  return "core: no program was left when the run failed, so there is no core file.\n";
}

}  // namespace anyrdma::tools
