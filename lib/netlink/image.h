// The ruleset image (.nfb): a ruleset as one file, ready to run without nft.
//
// Header, records, checksum. The header names the format, its version and the writer's byte order; each record is
// one thing of the model in the kernel's own attributes, plus what a message does not carry: handles of references by
// name, the order of registration, where rules stand in their source. An image is read on machines of its byte order.
#ifndef NFTJIT_LIB_NETLINK_IMAGE_H_
#define NFTJIT_LIB_NETLINK_IMAGE_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "lib/nft/ruleset.h"

namespace nftjit::netlink {

// Whether `bytes` begin like an image, whatever comes then.
bool LooksLikeImage(std::string_view bytes);

// `ruleset` must be what a server or ReadImage() made: references resolve, names and handles are unique.
std::string WriteImage(const nft::Ruleset& ruleset);

// The ruleset that was written, equal in every field. Everything is checked as if it came from a client.
//
// Errors: InvalidArgument "fw.nfb: offset 24: …" for a file that is no image, of another version or byte order,
// truncated, damaged, or one whose contents the kernel would refuse.
absl::StatusOr<nft::Ruleset> ReadImage(std::string_view bytes, std::string_view file_name);

// `ruleset`, of which WriteImage() must be true, as a kernel that took it would hold it: every check of ReadImage(),
// defaults filled in. Errors: InvalidArgument with the place of the rule, or the name of the thing, that is refused.
absl::StatusOr<nft::Ruleset> Normalise(const nft::Ruleset& ruleset, std::string_view file_name);

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_IMAGE_H_
