// The devices that the program has open, for ibv_import_device.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::c_api {

/// ibv_open_device has made it. Any thread.
void note_open(ibv_context* context);
/// Call before it is closed; the objects that were imported with it are closed, too. Any thread.
void note_closed(ibv_context* context);

}  // namespace anyrdma::c_api
