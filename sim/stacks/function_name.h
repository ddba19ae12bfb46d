// Names of functions, short enough to read.
#pragma once

#include <string>
#include <string_view>

namespace anyrdma::sim::stacks {

/// The name of a function in a demangler's output, without parameters, template arguments and
/// return type: "a::run" for "void a::run<int>(a::b<int>) const".
[[nodiscard]] std::string short_name(std::string_view name);

}  // namespace anyrdma::sim::stacks
