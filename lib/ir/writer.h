// The printer behind lib/ir/text.h; private to this folder. text.cpp has declarations and items, writer_rows.cpp rows.
#ifndef NFTJIT_LIB_IR_WRITER_H_
#define NFTJIT_LIB_IR_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/ir/text.h"
#include "lib/support/bytes.h"

namespace nftjit::ir {

// With quotes and escapes: \", \\, and \xHH for control characters.
void AppendQuoted(std::string& out, std::string_view text);
// Bare if it can be.
void AppendName(std::string& out, std::string_view name);

// Writes parts of a Program. `numbers` holds per row the number of its value in its chain.
class Writer {
 public:
  Writer(const Program& program, const std::vector<uint32_t>& numbers, const PrintOptions& options)
      : p_(program), numbers_(numbers), options_(options) {}

  void Declarations();
  void PrintSet(const SetInfo& set);
  void PrintChain(ChainId id);
  // Names in the row are those of `chain`'s table.
  void PrintRow(const Chain& chain, const Row& row);
  // Must come before PrintChain.
  void FindRulesWithoutItem();
  [[nodiscard]] std::string Take() { return std::move(out_); }

 private:
  void PrintElement(const SetInfo& set, const SetElement& element, bool catchall);
  void PrintStateful(const SetElement& element);
  void PrintBase(const Chain& chain);
  void PrintItem(const Chain& chain, const Item& item, size_t depth);
  void PrintRuleHead(ChainId current, RuleId rule);
  void PrintRulesWithoutItem(ChainId chain, uint32_t before, size_t& next);
  void PrintWhere(const SourcePos& where);
  void PrintOrigins(const Origin& origin);
  void PrintLoad(const Row& row);
  void PrintTest(const Row& row);
  void PrintGuard(const Row& row);
  void PrintVerdict(const Chain& chain, const Row& row);
  void PrintLog(const nft::Log& log);
  void PrintSetName(const Chain& chain, uint32_t set);

  void PutOne(std::string_view text) { out_.append(text); }
  void PutOne(uint64_t number) { out_.append(std::to_string(number)); }
  template <class... Parts>
  void Put(const Parts&... parts) {
    (PutOne(parts), ...);
  }
  void PutValue(uint32_t row) { Put("%", row < numbers_.size() ? uint64_t{numbers_[row]} : uint64_t{row}); }
  void PutConstant(uint32_t id) { Put(ToHex(p_.constants[ConstId(id)])); }

  const Program& p_;
  const std::vector<uint32_t>& numbers_;
  const PrintOptions options_;
  // Rules that no item stands for, in order; with the reason, if they were left out as unsupported.
  std::vector<std::pair<RuleId, const UnsupportedRule*>> without_item_;
  std::string out_;
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_WRITER_H_
