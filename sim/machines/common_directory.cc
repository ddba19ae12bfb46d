#include "sim/machines/common_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace anyrdma::sim {

std::optional<std::string> common_directory(std::string_view path, bool keeps,
                                            std::string& problem) {
  constexpr std::string_view kOfHosts[]{"/tmp/", "/dev/shm/", "/run/"};
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  std::string text = normal.string();
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  if (!normal.is_absolute() || text == "/") {
    const std::string what = keeps ? "keep" : "share";
    problem =
        "'" + what + "' needs an absolute path of a directory, as in '" + what + " /tmp/data'";
    return std::nullopt;
  }
  const bool of_host =
      std::ranges::any_of(kOfHosts, [&](std::string_view each) { return text.starts_with(each); });
  std::error_code unknown;
  if (!std::filesystem::is_directory(normal, unknown) && (keeps || !of_host)) {
    problem = "there is no directory '" + text + "'. Create it, or name another one";
    return std::nullopt;
  }
  return text;
}

}  // namespace anyrdma::sim
