// Names of functions, short enough to read.
#pragma once

#include <string>
#include <string_view>

namespace anyrdma::sim::stacks {

/// Of what a demangler says: without parameters, arguments of templates and what is returned.
/// "void a::run<int>(a::b<int>) const" is "a::run".
[[nodiscard]] std::string short_name(std::string_view name);

}  // namespace anyrdma::sim::stacks
