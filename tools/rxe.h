// `anyrdma rxe`: the kernel's Soft-RoCE links.
#pragma once

#include <string>

#include "tools/exit.h"

namespace anyrdma::tools {

/// What the words after `anyrdma rxe` say.
struct RxeOptions {
  std::string link;
  std::string interface;
};

/// Each says a sentence with cause and remedy on stderr when it fails.
[[nodiscard]] Exit rxe_add(const RxeOptions& options);
[[nodiscard]] Exit rxe_del(const RxeOptions& options);
/// One line per link: its name and its interface.
[[nodiscard]] Exit rxe_show();

}  // namespace anyrdma::tools
