// Formats packets and the parameters of CM events from trace records as text.
#pragma once

#include <string>

#include "recording/packets/fields.h"

namespace anyrdma::recording {

/// Appends a packet to `text`, such as "RC SEND Only qpn=0x000011 psn=0xc66a89 length=16". Reads
/// the fields of the packet behind its two GIDs.
void append_packet(std::string& text, FieldReader& fields);
/// Appends the parameters of a CM event to `text`, each after a blank: " resources=1 depth=1 ...
/// data="welcome"". Reads the fields of the event behind its status.
void append_parameters(std::string& text, FieldReader& fields);

}  // namespace anyrdma::recording
