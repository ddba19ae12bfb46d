// Mistakes with buffers, keys and queues, and the same programs without them.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// `KIND wrong|right server|client ADDRESS`: what docs/checkers.md calls KIND, or a variant of it
/// (mistakes.c). Returns an exit status: 0 also where the mistake has made requests fail. Runs in a
/// process, or in a fiber on a simulated host.
int run_mistake(int argc, const char* const* argv);

#ifdef __cplusplus
}
#endif
