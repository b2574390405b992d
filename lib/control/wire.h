/* The frames between a stock netlink client (inside it: tools/preload) and our server. Plain C, read by both sides.
 *
 * A process inherits the server's door, a seqpacket socket whose number the environment tells. It makes a pair of
 * stream sockets, hands one in at the door (one byte with SCM_RIGHTS) and keeps the other, so that several processes
 * talk at once. The stream carries frames: the header below in native byte order, then `length` bytes. The client
 * speaks first and waits for the answer to each frame before it sends the next one:
 *
 *   hello    struct nftjit_hello, program name          -> welcome  struct nftjit_welcome
 *   request  what the client sent on a netlink socket   -> reply*   one datagram each, then end
 *   lookup   struct nftjit_lookup, key                  -> answer   struct nftjit_answer, name
 *
 * A server that cannot go on sends `fatal` with a text; the client prints it and exits with NFTJIT_EXIT_STATUS. */
#ifndef NFTJIT_LIB_CONTROL_WIRE_H_
#define NFTJIT_LIB_CONTROL_WIRE_H_

#include <stdint.h>

/* The environment variable with the number of the door. */
#define NFTJIT_FD_VARIABLE "NFTJIT_CONTROL_FD"

enum { NFTJIT_WIRE_VERSION = 1 };
/* Of a client that the shim had to end. */
enum { NFTJIT_EXIT_STATUS = 125 };
/* No frame is longer: a rule set of a million elements is some 100 MB. */
enum { NFTJIT_FRAME_LIMIT = 1 << 30 };

enum nftjit_frame_kind {
  NFTJIT_FRAME_HELLO = 1,
  NFTJIT_FRAME_WELCOME = 2,
  NFTJIT_FRAME_REQUEST = 3,
  NFTJIT_FRAME_REPLY = 4,
  NFTJIT_FRAME_END = 5,
  NFTJIT_FRAME_LOOKUP = 6,
  NFTJIT_FRAME_ANSWER = 7,
  NFTJIT_FRAME_FATAL = 8,
};

struct nftjit_frame {
  uint32_t length;
  uint16_t kind;
  uint16_t bus; /* Request: the netlink protocol of the socket, NETLINK_NETFILTER or NETLINK_ROUTE. Else 0. */
};

struct nftjit_hello {
  uint32_t version;
  uint32_t pid;
};

struct nftjit_welcome {
  uint32_t version;
  uint32_t host_names; /* 1: the client may ask the machine's resolver for host names. */
};

/* Names that the client would read from the machine: services, protocols, users, groups. */
enum nftjit_lookup_kind {
  NFTJIT_SERVICE_BY_NAME = 1, /* Number: the transport protocol, 0 any. Answer: port, name. */
  NFTJIT_SERVICE_BY_PORT = 2, /* Number: port in host order | transport protocol << 16. Answer: port, name. */
  NFTJIT_PROTOCOL_BY_NAME = 3,
  NFTJIT_PROTOCOL_BY_NUMBER = 4,
  NFTJIT_USER_BY_NAME = 5,
  NFTJIT_USER_BY_ID = 6,
  NFTJIT_GROUP_BY_NAME = 7,
  NFTJIT_GROUP_BY_ID = 8,
};

struct nftjit_lookup {
  uint32_t kind;
  uint32_t number;
};

enum nftjit_lookup_result {
  NFTJIT_NOT_FOUND = 0,
  NFTJIT_FOUND = 1,
  NFTJIT_ASK_MACHINE = 2, /* The client's own libc may answer. */
};

struct nftjit_answer {
  uint32_t result;
  uint32_t number;
  uint32_t protocol; /* Services: the transport protocol of the entry. */
};

#endif /* NFTJIT_LIB_CONTROL_WIRE_H_ */
