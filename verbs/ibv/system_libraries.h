// The system's libibverbs.so.1 and librdmacm.so.1, found and loaded at run time: a program with
// anyrdma in it starts without them, too. Where other libraries go by these names in the process
// (the drop-ins of this project), the system's get a link namespace of their own, C library
// included.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace anyrdma::verbs::ibv {

/// Where to look, in this order. Empty: where Linux distributions have them.
using Directories = std::vector<std::string>;

/// Why the libraries cannot be used.
struct LoadFault {
  enum class Kind {
    kMissing,  ///< not there, or the loader refuses them
    kTooOld,   ///< they lack a function that we need
  };
  Kind kind;
  std::string sentence;  ///< cause and remedy, for a human
};

/// Both libraries. Copies refer to the same: nothing is ever unloaded.
class SystemLibraries {
 public:
  /// Loads both from the first directory that has them, by absolute path: neither LD_LIBRARY_PATH
  /// nor what the process has already decides. Threads: any, but not inside a critical section.
  [[nodiscard]] static std::variant<SystemLibraries, LoadFault> open(
      const Directories& directories = {});

  /// Null: the library has no such symbol of that version.
  [[nodiscard]] void* verbs_symbol(const char* name, const char* version) const;
  [[nodiscard]] void* cm_symbol(const char* name, const char* version) const;
  /// errno as the libraries know it: another one than ours when they have their own C library.
  [[nodiscard]] int* (*errno_location() const)();
  /// They have a namespace, and a C library, of their own.
  [[nodiscard]] bool apart() const { return apart_; }

 private:
  SystemLibraries(void* verbs, void* cm, bool apart) : verbs_(verbs), cm_(cm), apart_(apart) {}
  friend class Loader;

  void* verbs_;
  void* cm_;
  bool apart_;
};

/// Fills tables of function pointers, and remembers the first that was missing.
class SymbolReader {
 public:
  using Lookup = void* (SystemLibraries::*)(const char*, const char*) const;
  SymbolReader(const SystemLibraries& libraries, Lookup lookup)
      : libraries_(libraries), lookup_(lookup) {}

  template <class Function>
  void operator()(Function*& target, const char* name, const char* version) {
    target = reinterpret_cast<Function*>((libraries_.*lookup_)(name, version));
    if (target == nullptr && missing_.empty()) missing_ = std::string(name) + "@" + version;
  }
  /// "ibv_set_ece@IBVERBS_1.10"; empty: nothing is missing.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  const SystemLibraries& libraries_;
  Lookup lookup_;
  std::string missing_;
};

/// The fault of a library that lacks `symbol`.
[[nodiscard]] LoadFault too_old(const char* library, const std::string& symbol);

}  // namespace anyrdma::verbs::ibv
