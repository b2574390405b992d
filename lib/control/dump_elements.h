// Elements of a set as clients read them.
#ifndef NFTJIT_LIB_CONTROL_DUMP_ELEMENTS_H_
#define NFTJIT_LIB_CONTROL_DUMP_ELEMENTS_H_

#include "lib/control/dump_writer.h"
#include "lib/control/operations.h"
#include "lib/control/reset.h"
#include "lib/nft/ruleset.h"

namespace nftjit::control {

// All of them, in as many messages as they need; none for an empty set.
void DumpElements(const nft::Table& table, const nft::Set& set, DumpWriter& writer);

// One message for each asked element: itself, or for intervals the boundary that covers it. ENOENT where there is none.
Outcome FindElements(const nft::Table& table, const nft::Set& set, const netlink::Attribute& list, DumpWriter& writer,
                     std::vector<Dumped>& dumped);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_DUMP_ELEMENTS_H_
