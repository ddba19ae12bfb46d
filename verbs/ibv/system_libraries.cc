#include "verbs/ibv/system_libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace anyrdma::verbs::ibv {
namespace {

constexpr char kVerbs[] = "libibverbs.so.1";
constexpr char kCm[] = "librdmacm.so.1";
constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;

const Directories& usual_directories() {
  static const Directories usual = {
      "/usr/lib/x86_64-linux-gnu",
      "/usr/lib/aarch64-linux-gnu",
      "/usr/lib/powerpc64le-linux-gnu",
      "/usr/lib64",
      "/lib64",
      "/usr/lib",
      "/lib",
  };
  return usual;
}

bool are_one_file(const char* one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one, &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// Whether the process has another file by this name than `path`.
bool occupied_by_another(const char* soname, const std::string& path) {
  void* const present = ::dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
  if (present == nullptr) return false;
  link_map* map = nullptr;
  const bool same = ::dlinfo(present, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 &&
                    are_one_file(map->l_name, path);
  ::dlclose(present);
  return !same;
}

/// Whether librdmacm would call functions of the program's where it means those of libibverbs: the
/// loader looks there first, and whoever is linked with libanyrdma_sim has some by these names.
bool shadowed(const std::string& verbs_path) {
  void* const first = ::dlsym(RTLD_DEFAULT, "ibv_get_device_list");
  Dl_info whose{};
  return first != nullptr && ::dladdr(first, &whose) != 0 &&
         !are_one_file(whose.dli_fname, verbs_path);
}

std::string joined(const Directories& directories) {
  std::string all;
  for (const std::string& each : directories) all += (all.empty() ? "" : ", ") + each;
  return all;
}

}  // namespace

/// One attempt to load both from one directory.
class Loader {
 public:
  explicit Loader(const std::string& directory)
      : verbs_path_(directory + "/" + kVerbs), cm_path_(directory + "/" + kCm) {}

  [[nodiscard]] bool there() const {
    return ::access(verbs_path_.c_str(), R_OK) == 0 && ::access(cm_path_.c_str(), R_OK) == 0;
  }
  /// libibverbs first: librdmacm needs one by that name, and would look for it on its own.
  [[nodiscard]] std::variant<SystemLibraries, LoadFault> load() {
    const bool apart = occupied_by_another(kVerbs, verbs_path_) ||
                       occupied_by_another(kCm, cm_path_) || shadowed(verbs_path_);
    void* const verbs = apart ? ::dlmopen(LM_ID_NEWLM, verbs_path_.c_str(), kFlags)
                              : ::dlopen(verbs_path_.c_str(), kFlags);
    if (verbs == nullptr) return fault(verbs_path_);
    Lmid_t names = LM_ID_BASE;
    if (apart && ::dlinfo(verbs, RTLD_DI_LMID, &names) != 0) return fault(verbs_path_);
    void* const cm = ::dlmopen(names, cm_path_.c_str(), kFlags);
    if (cm == nullptr) return fault(cm_path_);
    return SystemLibraries(verbs, cm, apart);
  }

 private:
  static LoadFault fault(const std::string& path) {
    const char* const reason = ::dlerror();
    return {LoadFault::Kind::kMissing,
            "The system's " + path + " cannot be loaded (" +
                (reason != nullptr ? reason : "the loader says no more") +
                "): reinstall rdma-core's libraries (Debian: libibverbs1, librdmacm1)."};
  }

  const std::string verbs_path_;
  const std::string cm_path_;
};

std::variant<SystemLibraries, LoadFault> SystemLibraries::open(const Directories& directories) {
  const Directories& places = directories.empty() ? usual_directories() : directories;
  std::variant<SystemLibraries, LoadFault> result = LoadFault{
      LoadFault::Kind::kMissing,
      "The system's libibverbs.so.1 and librdmacm.so.1 are not in " + joined(places) +
          ": install rdma-core's libraries (Debian: libibverbs1, librdmacm1, ibverbs-providers)."};
  for (const std::string& directory : places) {
    Loader loader(directory);
    if (!loader.there()) continue;
    result = loader.load();
    if (std::holds_alternative<SystemLibraries>(result)) break;
  }
  return result;
}

void* SystemLibraries::verbs_symbol(const char* name, const char* version) const {
  return ::dlvsym(verbs_, name, version);
}

void* SystemLibraries::cm_symbol(const char* name, const char* version) const {
  return ::dlvsym(cm_, name, version);
}

int* (*SystemLibraries::errno_location() const)() {
  // The C library is among what libibverbs needs, so its handle finds the right one.
  void* const location = ::dlsym(verbs_, "__errno_location");
  return location != nullptr ? reinterpret_cast<int* (*)()>(location) : &__errno_location;
}

LoadFault too_old(const char* library, const std::string& symbol) {
  return {LoadFault::Kind::kTooOld, "The system's " + std::string(library) + " lacks " + symbol +
                                        ": update rdma-core to version 32 or later."};
}

}  // namespace anyrdma::verbs::ibv
