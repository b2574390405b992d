// Network interfaces as a route socket tells of them.
#ifndef NFTJIT_LIB_CONTROL_LINKS_H_
#define NFTJIT_LIB_CONTROL_LINKS_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "lib/control/message.h"
#include "lib/nft/ruleset.h"

namespace nftjit::control {

// The interfaces that clients see. `lo` always is one, with index 1 unless given another.
class Links {
 public:
  Links() = default;

  // `index` 0: the lowest one that is free. A name that is there keeps its index. Errors: InvalidArgument for a name
  // that no interface can have, and for an index that another interface has.
  absl::Status Add(std::string_view name, uint32_t index = 0);
  [[nodiscard]] bool Has(std::string_view name) const;
  [[nodiscard]] const std::vector<nft::Interface>& interfaces() const { return interfaces_; }

 private:
  std::vector<nft::Interface> interfaces_;
};

// 1 to 15 bytes, none of them a slash, a colon or white space; not "." or "..".
bool IsInterfaceName(std::string_view name);

// Answers RTM_GETLINK: a dump, or one interface by index or name. EOPNOTSUPP for other requests.
std::vector<std::string> AnswerLinks(const Links& links, const Message& request);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_LINKS_H_
