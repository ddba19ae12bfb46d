// A program that is killed inside a call.
#pragma once

namespace anyrdma::verbs {

/// Thrown to unwind the program from where it waits to where it began. Code that catches all
/// exceptions must rethrow this one; only the runner of the program catches it.
struct Killed {};

}  // namespace anyrdma::verbs
