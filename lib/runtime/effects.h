// Effects that leave through the Worker besides verdict, counters and changed metadata.
#ifndef NFTJIT_LIB_RUNTIME_EFFECTS_H_
#define NFTJIT_LIB_RUNTIME_EFFECTS_H_

#include <cstdint>

namespace nftjit {

// One evaluated `log`: which (ir::LogId) and for which packet of the burst.
struct LogRecord {
  uint32_t log;
  uint32_t packet;
};

// A ring of fixed capacity (a power of two); when it is full the oldest records are overwritten. `written` counts all.
struct EffectLog {
  LogRecord* records = nullptr;
  uint32_t mask = 0;
  uint32_t packet = 0;  // Number of the packet being run.
  uint64_t written = 0;

  void Add(uint32_t log) noexcept { records[written++ & mask] = {log, packet}; }
};

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_EFFECTS_H_
