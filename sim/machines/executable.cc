#include "sim/machines/executable.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace anyrdma::sim {
namespace {

bool executable_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

/// Runs with other rights than its caller's: the loader then ignores the caller's environment
/// (ld.so(8), secure-execution mode).
bool gains_rights(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid()) return true;
  return ::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

/// An ELF program that names no loader has its libraries inside.
bool statically_linked(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

/// Why the system refuses to start a program, with the remedy.
std::string cause_of(const std::error_code& error) {
  const std::string sentence = error.message() + ".";
  if (error == std::errc::operation_not_permitted || error == std::errc::function_not_supported) {
    return error.message() +
           ". The system refuses ptrace(2) or seccomp(2), which simulated hosts need. In a "
           "container, add --cap-add SYS_PTRACE --security-opt seccomp=unconfined.";
  }
  if (error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system)
    return sentence + " Raise the limit (ulimit -n).";
  if (error == std::errc::resource_unavailable_try_again)
    return sentence + " Raise the limit of processes (ulimit -u, cgroup).";
  if (error == std::errc::not_enough_memory)
    return sentence + " Raise the limit of memory (ulimit -v, cgroup).";
  if (error != std::errc::permission_denied) return sentence;
  // A simulated host is a namespace of its own: there a directory is entered by its path, not
  // inherited.
  std::error_code unknown;
  const std::filesystem::path here = std::filesystem::current_path(unknown);
  if (unknown || ::access(here.c_str(), X_OK) == 0) return sentence;
  return "this user may not enter '" + here.string() +
         "', the program's working directory. Start in another directory, or allow it: chmod a+x "
         "on the directory and its parents.";
}

}  // namespace

verbs::Result<std::string> find_program(const std::string& name, std::string_view search_path) {
  if (name.empty()) return verbs::errno_code(ENOENT);
  if (name.find('/') != std::string::npos) {
    if (executable_file(name)) return name;
    return verbs::errno_code(exists(name) ? EACCES : ENOENT);
  }
  int error = ENOENT;
  while (true) {
    const std::size_t end = search_path.find(':');
    const std::string_view folder = search_path.substr(0, end);
    const std::string path = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    if (executable_file(path)) return path;
    if (exists(path)) error = EACCES;
    if (end == std::string_view::npos) return verbs::errno_code(error);
    search_path.remove_prefix(end + 1);
  }
}

std::string why_not_found(const std::string& name, const std::error_code& error) {
  if (error == std::errc::permission_denied)
    return "'" + name + "' is not executable. Make it so (chmod +x), or name another program.";
  const bool is_path = name.find('/') != std::string::npos;
  return is_path ? "there is no file '" + name + "'. Check the path."
                 : "there is no program '" + name +
                       "' in PATH. Check the name, give a path, or install the package it is in.";
}

std::string why_not_started(const std::string& path, const std::error_code& error) {
  return "'" + path + "' cannot be started: " + cause_of(error);
}

std::optional<std::string> why_not_served(const std::string& path) {
  if (gains_rights(path)) {
    return "set up to gain rights (setuid, setgid or file capabilities), and the loader ignores "
           "LD_LIBRARY_PATH then: run a copy without those rights";
  }
  if (statically_linked(path)) {
    return "linked statically, so no library of it can be replaced: use a dynamically linked build";
  }
  return std::nullopt;
}

}  // namespace anyrdma::sim
