// The exception that ends a simulated program which is killed while it is inside a call.
#pragma once

namespace anyrdma::verbs {

/// Thrown inside a call to unwind the stack of a simulated program that is killed. Code that
/// catches all exceptions must rethrow this one. Only the simulator code that runs the program may
/// catch it.
struct Killed {};

}  // namespace anyrdma::verbs
