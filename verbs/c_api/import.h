// Keeps the list of devices that the program has open, for ibv_import_device.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::c_api {

/// Adds `context` to the list, after ibv_open_device has made it. Any thread.
void note_open(ibv_context* context);
/// Removes `context` from the list. Call it before the context is closed. Also closes the objects
/// that were imported with the context. Any thread.
void note_closed(ibv_context* context);

}  // namespace anyrdma::c_api
