#include "transport/open/record_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace anyrdma::transport {
namespace {

constexpr int kNamesMost = 100;

verbs::WhyNot not_written(const std::string& path, int error) {
  return {"recordings cannot be written to '" + path + "': " + std::strerror(error) +
          ". Name a directory that is there, or a file in one, where you may write."};
}

/// As a part of a file's name.
std::string part_of_name(std::string text) {
  std::ranges::replace(text, '/', '_');
  return text.empty() ? "unnamed" : text;
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// -1: it cannot be had, and errno says why; EEXIST: somebody has it, or there is something in it.
/// The lock lasts as long as the descriptor.
int take(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  struct stat status {};
  int error = 0;
  if (::fstat(file, &status) != 0) {
    error = errno;
  } else if (!S_ISREG(status.st_mode)) {
    error = EINVAL;
  } else if (status.st_size != 0 || ::flock(file, LOCK_EX | LOCK_NB) != 0) {
    error = EEXIST;
  }
  if (error == 0) return file;
  ::close(file);
  errno = error;
  return -1;
}

/// "client.rping.812", or "rping.812" where the process has no other name.
std::string name_of(const RecordingProcess& process) {
  const std::string program = part_of_name(process.program) + "." + std::to_string(process.pid);
  return process.named ? part_of_name(process.host) + "." + program : program;
}

}  // namespace

RecordingProcess this_process(const std::string& host) {
  RecordingProcess process;
  process.program = program_invocation_short_name;
  process.pid = ::getpid();
  process.named = !host.empty();
  process.host = process.named ? host : process.program + "[" + std::to_string(process.pid) + "]";
  return process;
}

verbs::OrWhyNot<RecordFile> open_record_file(const std::string& path,
                                             const RecordingProcess& process) {
  const std::string pid = std::to_string(process.pid);
  const bool in_directory = is_directory(path);
  const std::string first = in_directory ? path + "/" + name_of(process) : path;
  std::string name = first + (in_directory ? ".recording" : "");
  for (int i = 1; i < kNamesMost; ++i) {
    if (const int file = take(name); file >= 0) {
      const bool another = !in_directory && i > 1;
      return RecordFile{recording::FileSink::of(file), name, another};
    }
    if (errno != EEXIST) break;
    // The process's number may come again, and one process may record twice.
    const std::string again = i == 1 ? "" : "." + std::to_string(i);
    name = in_directory ? first + "." + std::to_string(i + 1) + ".recording"
                        : first + "." + pid + again;
  }
  return not_written(name, errno);
}

verbs::OrWhyNot<std::string> prepare_record_path(const std::string& path) {
  if (path.empty()) return not_written(path, ENOENT);
  const std::string whole = std::filesystem::absolute(path).lexically_normal().string();
  if (is_directory(whole)) {
    if (::access(whole.c_str(), W_OK | X_OK) != 0) return not_written(path, errno);
    return {boost::system::in_place_value, whole};
  }
  const int file = ::open(whole.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return not_written(path, errno);
  const bool taken = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  const int error = taken || ::ftruncate(file, 0) == 0 ? 0 : errno;
  ::close(file);
  if (taken) {
    return verbs::WhyNot{"a process still records to '" + path +
                         "'. Name another file, or a directory for the files of all."};
  }
  if (error != 0) return not_written(path, error);
  return {boost::system::in_place_value, whole};
}

}  // namespace anyrdma::transport
