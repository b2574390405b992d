// What an expression refers to: for counting uses, binding anonymous sets and chains, and walking jumps.
#ifndef NFTJIT_LIB_NFT_REFERENCES_H_
#define NFTJIT_LIB_NFT_REFERENCES_H_

#include "lib/nft/ruleset.h"

namespace nftjit::nft {

enum class ReferenceKind : uint8_t { kChain, kSet, kObject, kFlowtable };

struct Reference {
  ReferenceKind kind;
  Handle handle;
  bool operator==(const Reference&) const = default;
};

// Calls `visit(Reference)` for each thing that `expression` names, in the order of the kernel's resolution. Expressions
// nested in dynset and inner refer to nothing.
template <class Visit>
void ForEachReference(const Expression& expression, Visit&& visit) {
  if (const auto* immediate = std::get_if<Immediate>(&expression.body)) {
    if (immediate->dreg.is_verdict() && immediate->verdict.chain != 0) {
      visit(Reference{ReferenceKind::kChain, immediate->verdict.chain});
    }
  } else if (const auto* lookup = std::get_if<Lookup>(&expression.body)) {
    visit(Reference{ReferenceKind::kSet, lookup->set});
  } else if (const auto* dynset = std::get_if<Dynset>(&expression.body)) {
    visit(Reference{ReferenceKind::kSet, dynset->set});
  } else if (const auto* object = std::get_if<ObjectRef>(&expression.body)) {
    visit(Reference{ReferenceKind::kObject, object->object});
  } else if (const auto* map = std::get_if<ObjectMapRef>(&expression.body)) {
    visit(Reference{ReferenceKind::kSet, map->set});
  } else if (const auto* flow = std::get_if<FlowOffload>(&expression.body)) {
    visit(Reference{ReferenceKind::kFlowtable, flow->flowtable});
  }
}
// The same of a set element.
template <class Visit>
void ForEachReference(const Element& element, Visit&& visit) {
  if (const auto* verdict = std::get_if<Verdict>(&element.data); verdict != nullptr && verdict->chain != 0) {
    visit(Reference{ReferenceKind::kChain, verdict->chain});
  }
  if (element.object != 0) visit(Reference{ReferenceKind::kObject, element.object});
}

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_REFERENCES_H_
