// Packets and what events carry, in the canonical form of trace records, as text.
#pragma once

#include <string>

#include "sim/packets/fields.h"

namespace anyrdma::sim {

/// "RC SEND Only qpn=0x000011 psn=0xc66a89 length=16": words, then NAME=VALUE. The fields behind
/// both GIDs.
void append_packet(std::string& text, FieldReader& fields);
/// " resources=1 depth=1 ... data="welcome"": each with a blank in front. The fields behind the
/// status.
void append_parameters(std::string& text, FieldReader& fields);

}  // namespace anyrdma::sim
