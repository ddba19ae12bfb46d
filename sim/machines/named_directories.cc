#include "sim/machines/named_directories.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace anyrdma::sim {

std::vector<std::string> named_directories(std::string_view text) {
  constexpr std::string_view kParent = "/dev/shm/";
  constexpr std::string_view kEnds = "/ \t\n'\":;,)";
  std::vector<std::string> found;
  for (std::size_t at = text.find(kParent); at != std::string_view::npos;
       at = text.find(kParent, at + 1)) {
    const std::string_view name = text.substr(at + kParent.size());
    const std::string path(
        text.substr(at, kParent.size() + std::min(name.find_first_of(kEnds), name.size())));
    std::error_code error;
    if (path.size() > kParent.size() && !path.ends_with("/.") && !path.ends_with("/..") &&
        std::filesystem::is_directory(path, error) && std::ranges::find(found, path) == found.end())
      found.push_back(path);
  }
  return found;
}

std::vector<std::string> directories_named_around() {
  std::error_code error;
  std::string text = std::filesystem::read_symlink("/proc/self/exe", error).string();
  for (char** each = environ; *each != nullptr; ++each) text.append("\n").append(*each);
  return named_directories(text);
}

}  // namespace anyrdma::sim
