// The link types of captures that are read: where in a captured frame the packet begins, and what it is.
#ifndef NFTJIT_TOOLS_CAPTURE_LINK_TYPES_H_
#define NFTJIT_TOOLS_CAPTURE_LINK_TYPES_H_

#include <string>
#include <string_view>

#include "nftjit/packet.h"

namespace nftjit {

struct LinkType {
  int number;             // DLT_ of libpcap.
  std::string_view name;  // Several numbers may share one.

  // `packet` holds a frame, of which bytes may be missing. Sets link_offset (of Ethernet alone: no other link type has
  // a header that rules load from), network_offset, protocol, vlan_tagged and pkttype, and takes off what follows the
  // packet in the frame. A frame that is too short for its headers gets network_offset == length; also one that carries
  // no packet but control messages of the link, of which then nothing is missing.
  void (*find_packet)(Packet& packet);
};

// Null: frames of this type are not read.
const LinkType* FindLinkType(int number);

// "Ethernet, raw IP, … and …": all that are read.
std::string LinkTypeNames();

}  // namespace nftjit

#endif  // NFTJIT_TOOLS_CAPTURE_LINK_TYPES_H_
