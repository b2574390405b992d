// Captures of several interfaces: libpcap reads a pcapng file only if all look alike.
#ifndef NFTJIT_TOOLS_CAPTURE_INTERFACES_H_
#define NFTJIT_TOOLS_CAPTURE_INTERFACES_H_

#include <string>

namespace nftjit {

// Given the bytes of a pcapng file with several interfaces, makes their descriptions alike where that changes nothing:
//  - different snap lengths become no limit; how much was captured is with the packets;
//  - raw IP gets libpcap's own number for it, because libpcap compares that with the number in the file.
// Leaves every other file as it is, also a damaged one (libpcap says what is wrong), and one with simple packet blocks,
// whose captured length is told by the snap length. Different link types are left for libpcap to refuse.
void UniteInterfaces(std::string& file);

}  // namespace nftjit

#endif  // NFTJIT_TOOLS_CAPTURE_INTERFACES_H_
