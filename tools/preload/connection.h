/* The client's end of the connection to the server: see lib/control/wire.h. */
#ifndef NFTJIT_TOOLS_PRELOAD_CONNECTION_H_
#define NFTJIT_TOOLS_PRELOAD_CONNECTION_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/control/wire.h"

#define NFTJIT_EXPORT __attribute__((visibility("default")))

/* One netlink datagram of a reply. */
struct datagram {
  struct datagram* next;
  size_t length;
  unsigned char bytes[];
};

/* Sends one datagram and waits for the whole reply, which the caller frees. Returns the number of datagrams. */
size_t Exchange(uint16_t bus, const struct iovec* parts, size_t count, struct datagram** reply);

/* Asks the server for a name or number. `key` may be empty. The name of the answer is written to `name`, cut to fit. */
struct nftjit_answer Lookup(uint32_t kind, uint32_t number, const char* key, char* name, size_t name_size);

/* Whether host names may be looked up. */
bool HostNamesAllowed(void);

/* Whether this process has a server at all. */
bool Connected(void);

/* Says on standard error why the client cannot go on, and ends it. */
_Noreturn void Refuse(const char* what, const char* detail);

#endif /* NFTJIT_TOOLS_PRELOAD_CONNECTION_H_ */
