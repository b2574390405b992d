// The numbers of the nf_tables wire protocol (vm-semantics 13 and the attribute lists of 10 and 11).
//
// Plain enums, because they index attribute tables. Attributes of expressions stand beside each expression's codec.
#ifndef NFTJIT_LIB_NETLINK_NUMBERS_H_
#define NFTJIT_LIB_NETLINK_NUMBERS_H_

#include <cstdint>

namespace nftjit::netlink {

inline constexpr uint8_t kNftablesSubsystem = 10;
inline constexpr uint16_t kBatchBegin = 16, kBatchEnd = 17;  // nfnetlink's own types, no subsystem.

// The low byte of nlmsg_type.
enum MessageType : uint8_t {
  kNewTable = 0,
  kGetTable,
  kDelTable,
  kNewChain,
  kGetChain,
  kDelChain,
  kNewRule,
  kGetRule,
  kDelRule,
  kNewSet,
  kGetSet,
  kDelSet,
  kNewSetElem,
  kGetSetElem,
  kDelSetElem,
  kNewGen,
  kGetGen,
  kTrace,
  kNewObj,
  kGetObj,
  kDelObj,
  kGetObjReset,
  kNewFlowtable,
  kGetFlowtable,
  kDelFlowtable,
  kGetRuleReset,
  kDestroyTable,
  kDestroyChain,
  kDestroyRule,
  kDestroySet,
  kDestroySetElem,
  kDestroyObj,
  kDestroyFlowtable,
  kGetSetElemReset,
};

// Every list is a nest of these.
inline constexpr uint16_t kListElem = 1;

enum TableAttribute : uint16_t {
  kTableName = 1,
  kTableFlags,
  kTableUse,
  kTableHandle,
  kTablePad,
  kTableUserdata,
  kTableOwner,
  kTableMax = kTableOwner
};
enum ChainAttribute : uint16_t {
  kChainTable = 1,
  kChainHandle,
  kChainName,
  kChainHook,
  kChainPolicy,
  kChainUse,
  kChainType,
  kChainCounters,
  kChainPad,
  kChainFlags,
  kChainId,
  kChainUserdata,
  kChainMax = kChainUserdata
};
enum HookAttribute : uint16_t { kHookNumber = 1, kHookPriority, kHookDevice, kHookDevices, kHookMax = kHookDevices };
enum DeviceAttribute : uint16_t { kDeviceName = 1, kDevicePrefix };
enum RuleAttribute : uint16_t {
  kRuleTable = 1,
  kRuleChain,
  kRuleHandle,
  kRuleExpressions,
  kRuleCompat,
  kRulePosition,
  kRuleUserdata,
  kRulePad,
  kRuleId,
  kRulePositionId,
  kRuleChainId,
  kRuleMax = kRuleChainId
};
enum RuleCompatAttribute : uint16_t { kRuleCompatProto = 1, kRuleCompatFlags, kRuleCompatMax = kRuleCompatFlags };
enum SetAttribute : uint16_t {
  kSetTable = 1,
  kSetName,
  kSetFlags,
  kSetKeyType,
  kSetKeyLen,
  kSetDataType,
  kSetDataLen,
  kSetPolicy,
  kSetDesc,
  kSetId,
  kSetTimeoutMs,
  kSetGcInterval,
  kSetUserdata,
  kSetPad,
  kSetObjType,
  kSetHandle,
  kSetExprAttribute,
  kSetExpressions,
  kSetType,
  kSetCount,
  kSetMax = kSetCount
};
enum SetDescAttribute : uint16_t { kSetDescSize = 1, kSetDescConcat, kSetDescMax = kSetDescConcat };
enum SetFieldAttribute : uint16_t { kSetFieldLen = 1, kSetFieldMax = kSetFieldLen };
enum ElementListAttribute : uint16_t {
  kElementsTable = 1,
  kElementsSet,
  kElementsList,
  kElementsSetId,
  kElementsMax = kElementsSetId
};
enum ElementAttribute : uint16_t {
  kElementKey = 1,
  kElementData,
  kElementFlags,
  kElementTimeout,
  kElementExpiration,
  kElementUserdata,
  kElementExpr,
  kElementPad,
  kElementObjref,
  kElementKeyEnd,
  kElementExpressions,
  kElementMax = kElementExpressions
};
enum ObjectAttribute : uint16_t {
  kObjectTable = 1,
  kObjectName,
  kObjectTypeNumber,
  kObjectData,
  kObjectUse,
  kObjectHandle,
  kObjectPad,
  kObjectUserdata,
  kObjectMax = kObjectUserdata
};
enum FlowtableAttribute : uint16_t {
  kFlowtableTable = 1,
  kFlowtableName,
  kFlowtableHook,
  kFlowtableUse,
  kFlowtableHandle,
  kFlowtablePad,
  kFlowtableFlags,
  kFlowtableMax = kFlowtableFlags
};
enum FlowtableHookAttribute : uint16_t {
  kFlowtableHookNumber = 1,
  kFlowtableHookPriority,
  kFlowtableHookDevices,
  kFlowtableHookMax = kFlowtableHookDevices
};
enum GenAttribute : uint16_t { kGenId = 1, kGenProcPid, kGenProcName, kGenMax = kGenProcName };
enum ExpressionAttribute : uint16_t { kExprName = 1, kExprData, kExprMax = kExprData };
enum DataAttribute : uint16_t { kDataValue = 1, kDataVerdict, kDataMax = kDataVerdict };
enum VerdictAttribute : uint16_t { kVerdictCode = 1, kVerdictChain, kVerdictChainId, kVerdictMax = kVerdictChainId };

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_NUMBERS_H_
