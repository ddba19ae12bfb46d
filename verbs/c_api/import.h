// Keeps the list of the devices that the program has open, in which ibv_import_device finds a
// device.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::c_api {

/// Adds `context` to the list of open devices. Called after ibv_open_device has made it, from any
/// thread.
void note_open(ibv_context* context);
/// Removes `context` from the list of open devices, and closes the objects that were imported with
/// it. Call this function before the context is closed. Any thread.
void note_closed(ibv_context* context);

}  // namespace anyrdma::c_api
