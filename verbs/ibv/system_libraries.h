// Finds and loads the system's libibverbs.so.1 and librdmacm.so.1 at run time, so that a program
// with anyrdma starts on systems without them. If the process already uses anyrdma's drop-in
// libraries of the same names, the system's libraries are loaded into a link namespace (dlmopen(3))
// with a C library of their own.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace anyrdma::verbs::ibv {

/// The directories in which to search the libraries, in this order. Empty: the usual directories of
/// Linux distributions.
using Directories = std::vector<std::string>;

/// The reason why the libraries cannot be used.
struct LoadFault {
  enum class Kind {
    kMissing,  ///< the library is missing, or the loader cannot load it
    kTooOld,   ///< the library lacks a function that anyrdma needs
  };
  Kind kind;
  std::string sentence;  ///< cause and remedy, for a human
};

/// Handles of both libraries. Copies refer to the same libraries, which are never unloaded.
class SystemLibraries {
 public:
  /// Loads both libraries by absolute path from the first directory that has them. LD_LIBRARY_PATH
  /// and libraries that are already loaded have no effect. Any thread, outside of the runtime's
  /// critical section.
  [[nodiscard]] static std::variant<SystemLibraries, LoadFault> open(
      const Directories& directories = {});

  /// Returns the address of a libibverbs symbol in the given version; null if libibverbs has no
  /// such symbol.
  [[nodiscard]] void* verbs_symbol(const char* name, const char* version) const;
  [[nodiscard]] void* cm_symbol(const char* name, const char* version) const;
  /// Returns the function that gives the address of the system libraries' errno. This errno differs
  /// from the caller's if the libraries have their own C library.
  [[nodiscard]] int* (*errno_location() const)();
  /// Whether the system libraries are in a link namespace of their own, with their own C library.
  [[nodiscard]] bool apart() const { return apart_; }

 private:
  SystemLibraries(void* verbs, void* cm, bool apart) : verbs_(verbs), cm_(cm), apart_(apart) {}
  friend class Loader;

  void* verbs_;
  void* cm_;
  bool apart_;
};

/// Fills tables of function pointers from the system's libraries, and remembers the first symbol
/// that is missing.
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
  /// Returns the first missing symbol, such as "ibv_set_ece@IBVERBS_1.10"; empty: no symbol is
  /// missing.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  const SystemLibraries& libraries_;
  Lookup lookup_;
  std::string missing_;
};

/// Returns the LoadFault for a library that lacks `symbol`.
[[nodiscard]] LoadFault too_old(const char* library, const std::string& symbol);

}  // namespace anyrdma::verbs::ibv
