// The parser behind Parse() of lib/ir/text.h; private to this folder. parser.cpp has declarations and items,
// parser_rows.cpp rows.
#ifndef NFTJIT_LIB_IR_PARSER_H_
#define NFTJIT_LIB_IR_PARSER_H_

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/support/line_cursor.h"

namespace nftjit::ir {

// Functions return false after noting an error in the cursor.
class Parser {
 public:
  Parser(std::string_view text, std::string_view file_name) : text_(text), in_(file_name) {}
  absl::StatusOr<Program> Run();

 private:
  // More could only be asked for by a text that wants to exhaust the memory.
  static constexpr uint32_t kMaxId = 1U << 20;
  // Where a line stands: what the lines after it belong to.
  enum class Context : uint8_t { kNothing, kSet, kChain };
  struct OpenItem {
    uint32_t item;
    size_t indent;
  };
  // Chains and sets are known by family, table and name.
  using QualifiedName = std::string;
  static QualifiedName Qualify(nft::Family family, std::string_view table, std::string_view name);

  template <class Visit>
  bool ForEachLine(Visit&& visit);
  // First round: names of chains and sets, so that uses may come before declarations.
  bool Declare(std::string_view line, size_t indent);
  bool DeclareName(absl::flat_hash_map<QualifiedName, uint32_t>& names, uint32_t id, std::string_view what);
  // Second round.
  bool ReadLine(std::string_view line, size_t indent);

  bool ReadTableAndName(nft::Family* family, std::string* table, std::string* name);
  bool ReadSetHeader(std::string_view keyword);
  bool ReadElement();
  bool ReadElementData(const SetInfo& set, SetElement* element);
  bool ReadElementOptions(SetElement* element);
  bool ReadCounter();
  bool ReadLimit();
  bool ReadLog();
  bool ReadLogOptions(nft::Log* log);
  bool ReadChainHeader();
  bool ReadBase(Chain* chain);
  bool ReadItem(std::string_view keyword, size_t indent);
  bool ReadRuleHead(RuleId* rule);
  bool ReadRuleChain(ChainId* chain);
  bool ReadWhere(SourcePos* where);
  bool ReadOmitted(RuleId rule);
  void CloseItems(size_t indent);
  void FinishChain();

  bool ReadRow(size_t indent);
  bool ReadOp(Row* row);
  bool ReadOrigins(Origin* origin);
  bool ReadOrigin(Origin* origin);
  bool ReadOperation(Row* row);
  bool ReadLoad(Row* row);
  bool ReadMeta(Row* row);
  bool ReadCt(Row* row);
  bool ReadExthdr(Row* row);
  bool ReadGuard(Row* row);
  bool ReadTest(Row* row);
  bool ReadVerdict(Row* row);
  bool ReadReject(Row* row);
  bool ReadValue(uint32_t* row);
  bool ReadTwoValues(Row* row);
  bool ReadConstant(uint32_t* id);
  bool ReadLength(uint8_t* length);
  bool ReadSetUse(uint32_t* set);
  bool ReadId(uint32_t* id, std::string_view what);
  bool ReadDeclaredId(uint32_t* id, const std::vector<bool>& declared, std::string_view what);
  bool DeclareId(uint32_t id, std::vector<bool>& declared);
  bool ReadCtKey(nft::CtKey* key, uint8_t* direction);
  template <class Enum>
  bool ReadEnum(Enum* value, size_t count, std::string_view what);

  CounterInfo& CounterAt(uint32_t id);
  uint32_t Text(const std::string& text);
  [[nodiscard]] uint8_t LengthOf(uint32_t row) const { return p_.rows[row].length; }
  [[nodiscard]] const Chain& chain() const { return p_.chains[chain_]; }

  std::string_view text_;
  LineCursor in_;
  Program p_;
  absl::flat_hash_map<QualifiedName, uint32_t> chains_, sets_;
  absl::flat_hash_map<std::pair<uint32_t, nft::Handle>, uint32_t> rules_;  // By chain and handle.
  absl::flat_hash_map<std::string, uint32_t> values_;                      // Of the chain.
  Context context_ = Context::kNothing;
  uint32_t chain_ = 0, set_ = 0;  // The current one; the number of those begun is one more.
  uint32_t chains_begun_ = 0, sets_begun_ = 0;
  std::vector<OpenItem> open_;  // Items around the line, the last one innermost.
  std::vector<bool> limit_declared_, log_declared_;
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_PARSER_H_
