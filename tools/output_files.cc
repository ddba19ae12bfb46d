#include "tools/output_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/text.h"
#include "tools/start.h"

namespace anyrdma::tools {

using sim::programs::OutputLine;
using sim::programs::Program;

std::optional<OutputFiles> OutputFiles::create(const std::string& directory, bool times) {
  std::error_code error;
  std::filesystem::create_directory(directory, error);
  if (!error && std::filesystem::is_directory(directory, error))
    return OutputFiles(directory, times);
  say("--output '" + directory + "' is not usable as a directory" +
      (error ? ": " + error.message() + "." : ": it is a file. Name a directory."));
  return std::nullopt;
}

bool OutputFiles::add(const Program& program) {
  std::string name = program.name();
  std::replace(name.begin(), name.end(), '/', '.');
  const unsigned number = ++named_[name];
  if (number > 1) name += "." + std::to_string(number);
  for (const bool error : {false, true}) {
    const std::filesystem::path path = directory_ / (name + (error ? ".err" : ".out"));
    std::ofstream& file = files_[{&program, error}];
    file.open(path, std::ios::binary | std::ios::trunc);
    if (file) continue;
    say("'" + path.string() + "' cannot be written: " + std::strerror(errno) + ".");
    return false;
  }
  return true;
}

void OutputFiles::take(const OutputLine& line) {
  const auto file = files_.find({line.source, line.error});
  if (file == files_.end()) return;
  if (times_) file->second << seconds_text(line.time.time_since_epoch()) << ' ';
  file->second << line.text << '\n';
}

bool OutputFiles::finish() {
  return std::all_of(files_.begin(), files_.end(),
                     [](auto& each) { return static_cast<bool>(each.second.flush()); });
}

}  // namespace anyrdma::tools
