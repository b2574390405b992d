#include "lib/control/dump_elements.h"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <vector>

#include "lib/control/element_index.h"
#include "lib/netlink/codec.h"
#include "lib/netlink/table_index.h"

namespace nftjit::control {
namespace {

// Interval sets come from the greatest boundary down, an end after the start of the same key, as the kernel's tree is
// walked; nft puts the intervals together from that order. Others in order of insertion.
std::vector<const nft::Element*> InDumpOrder(const nft::Set& set) {
  std::vector<const nft::Element*> order;
  order.reserve(set.elements.size());
  for (const nft::Element& element : set.elements) order.push_back(&element);
  if (InsertionRulesOf(set) != InsertionRules::kInterval) return order;
  std::stable_sort(order.begin(), order.end(), [](const nft::Element* a, const nft::Element* b) {
    const bool a_catchall = (a->flags & nft::kElementCatchall) != 0;
    const bool b_catchall = (b->flags & nft::kElementCatchall) != 0;
    if (a_catchall != b_catchall) return b_catchall;
    if (a->key != b->key) return a->key > b->key;
    return (a->flags & nft::kElementIntervalEnd) < (b->flags & nft::kElementIntervalEnd);
  });
  return order;
}

void WriteHead(const nft::Table& table, const nft::Set& set, netlink::AttributeWriter& out) {
  out.String(netlink::kElementsTable, table.name);
  out.String(netlink::kElementsSet, set.name);
}

}  // namespace

void DumpElements(const nft::Table& table, const nft::Set& set, DumpWriter& writer) {
  const netlink::TableIndex names(table);
  const std::vector<const nft::Element*> order = InDumpOrder(set);
  for (size_t next = 0; next < order.size();) {
    writer.Add(netlink::kNewSetElem, table.family, [&](netlink::AttributeWriter& out) {
      WriteHead(table, set, out);
      const size_t list = out.BeginNest(netlink::kElementsList);
      do {
        netlink::EncodeElement(*order[next++], set, names, out);
      } while (next < order.size() && out.size() - list < DumpWriter::kFull);
      (void)out.EndNest(list);  // Closed long before it is too long: an element is at most some 2 KiB.
    });
  }
}

Outcome FindElements(const nft::Table& table, const nft::Set& set, const netlink::Attribute& list, DumpWriter& writer,
                     std::vector<Dumped>& dumped) {
  const netlink::TableIndex names(table);
  nft::Set indexed = set;
  const ElementIndex index(indexed);
  for (netlink::AttributeCursor at(list); at.Next();) {
    const netlink::Result<nft::Element> wanted =
        netlink::DecodeElement(at.attribute(), set, names, netlink::ElementUse::kGet);
    if (!wanted.ok()) return wanted.error();
    const std::optional<uint32_t> found = index.FindCovering(set, *wanted);
    if (!found.has_value()) return Refused(ENOENT, at.attribute(), "the set has no such element");
    writer.Add(netlink::kNewSetElem, table.family, [&](netlink::AttributeWriter& out) {
      WriteHead(table, set, out);
      const size_t item = out.BeginNest(netlink::kElementsList);
      netlink::EncodeElement(set.elements[*found], set, names, out);
      (void)out.EndNest(item);
    });
    dumped.push_back({table.handle, set.handle, *found});
  }
  return Fine();
}

}  // namespace nftjit::control
