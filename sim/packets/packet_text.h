// Formats packets and the parameters of CM events from trace records as text.
#pragma once

#include <string>

#include "sim/packets/fields.h"

namespace anyrdma::sim {

/// Appends a packet as text: "RC SEND Only qpn=0x000011 psn=0xc66a89 length=16". Reads the fields
/// that follow both GIDs.
void append_packet(std::string& text, FieldReader& fields);
/// Appends the parameters of an event as text: " resources=1 depth=1 ... data="welcome"", each
/// after a blank. Reads the fields that follow the status.
void append_parameters(std::string& text, FieldReader& fields);

}  // namespace anyrdma::sim
