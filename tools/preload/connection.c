#include "tools/preload/connection.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int server_fd = -1;
static bool host_names_allowed;
/* One question at a time, however many threads the client has. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void WriteText(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return; /* Nobody is left to be told. */
}

_Noreturn void Refuse(const char* what, const char* detail) {
  WriteText("nftjit-preload: ");
  WriteText(what);
  if (detail != NULL) {
    WriteText(": ");
    WriteText(detail);
  }
  WriteText("\n");
  _exit(NFTJIT_EXIT_STATUS);
}

static void SendAll(const void* bytes, size_t length) {
  const char* p = bytes;
  while (length > 0) {
    const ssize_t sent = send(server_fd, p, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) Refuse("the server went away", strerror(errno));
    p += sent;
    length -= (size_t)sent;
  }
}

static void ReceiveAll(void* bytes, size_t length) {
  char* p = bytes;
  while (length > 0) {
    const ssize_t got = recv(server_fd, p, length, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Refuse("the server went away", strerror(errno));
    if (got == 0) Refuse("the server closed the connection", NULL);
    p += got;
    length -= (size_t)got;
  }
}

static void SendHeader(uint16_t kind, uint16_t bus, size_t length) {
  if (length > NFTJIT_FRAME_LIMIT) Refuse("a request is too long", NULL);
  const struct nftjit_frame header = {.length = (uint32_t)length, .kind = kind, .bus = bus};
  SendAll(&header, sizeof header);
}

static struct nftjit_frame ReceiveHeader(void) {
  struct nftjit_frame header;
  ReceiveAll(&header, sizeof header);
  if (header.length > NFTJIT_FRAME_LIMIT) Refuse("the server sent a frame that is too long", NULL);
  if (header.kind == NFTJIT_FRAME_FATAL) {
    char text[512];
    const size_t length = header.length < sizeof text ? header.length : sizeof text - 1;
    ReceiveAll(text, length);
    text[length] = '\0';
    Refuse("the server gave up", text);
  }
  return header;
}

size_t Exchange(uint16_t bus, const struct iovec* parts, size_t count, struct datagram** reply) {
  size_t length = 0;
  for (size_t i = 0; i < count; ++i) length += parts[i].iov_len;

  pthread_mutex_lock(&turn);
  SendHeader(NFTJIT_FRAME_REQUEST, bus, length);
  for (size_t i = 0; i < count; ++i) SendAll(parts[i].iov_base, parts[i].iov_len);

  size_t datagrams = 0;
  struct datagram** tail = reply;
  *tail = NULL;
  for (;;) {
    const struct nftjit_frame header = ReceiveHeader();
    if (header.kind == NFTJIT_FRAME_END && header.length == 0) break;
    if (header.kind != NFTJIT_FRAME_REPLY) Refuse("the server sent a frame that answers no request", NULL);
    struct datagram* datagram = malloc(sizeof *datagram + header.length);
    if (datagram == NULL) Refuse("out of memory", NULL);
    datagram->next = NULL;
    datagram->length = header.length;
    ReceiveAll(datagram->bytes, header.length);
    *tail = datagram;
    tail = &datagram->next;
    ++datagrams;
  }
  pthread_mutex_unlock(&turn);
  return datagrams;
}

struct nftjit_answer Lookup(uint32_t kind, uint32_t number, const char* key, char* name, size_t name_size) {
  const struct nftjit_lookup question = {.kind = kind, .number = number};
  struct nftjit_answer answer;

  pthread_mutex_lock(&turn);
  SendHeader(NFTJIT_FRAME_LOOKUP, 0, sizeof question + strlen(key));
  SendAll(&question, sizeof question);
  SendAll(key, strlen(key));
  const struct nftjit_frame header = ReceiveHeader();
  if (header.kind != NFTJIT_FRAME_ANSWER || header.length < sizeof answer) {
    Refuse("the server sent a frame that answers no lookup", NULL);
  }
  ReceiveAll(&answer, sizeof answer);
  for (size_t i = 0; i < header.length - sizeof answer; ++i) {
    char c;
    ReceiveAll(&c, 1);
    if (i + 1 < name_size) name[i] = c;
  }
  const size_t length = header.length - sizeof answer;
  name[length < name_size ? length : name_size - 1] = '\0';
  pthread_mutex_unlock(&turn);
  return answer;
}

bool HostNamesAllowed(void) { return host_names_allowed; }

bool Connected(void) { return server_fd >= 0; }

/* Hands one end of a new stream in at the door; returns the other. */
static int EnterDoor(int door) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) Refuse("socketpair", strerror(errno));
  char byte = 0;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(rights), &ends[1], sizeof(int));
  if (sendmsg(door, &message, MSG_NOSIGNAL) != 1) Refuse("the server's door", strerror(errno));
  close(ends[1]);
  return ends[0];
}

/* Before main: the server learns that the shim is really there, also when the client never opens a socket. */
__attribute__((constructor)) static void SayHello(void) {
  const char* variable = getenv(NFTJIT_FD_VARIABLE);
  if (variable == NULL) return; /* mnl_socket_open refuses. */
  char* end;
  const long number = strtol(variable, &end, 10);
  if (end == variable || *end != '\0' || number < 0 || number > INT_MAX) {
    Refuse("bad value of " NFTJIT_FD_VARIABLE, variable);
  }
  server_fd = EnterDoor((int)number);

  const char* program = program_invocation_short_name;
  const struct nftjit_hello hello = {.version = NFTJIT_WIRE_VERSION, .pid = (uint32_t)getpid()};
  SendHeader(NFTJIT_FRAME_HELLO, 0, sizeof hello + strlen(program));
  SendAll(&hello, sizeof hello);
  SendAll(program, strlen(program));

  struct nftjit_welcome welcome;
  const struct nftjit_frame header = ReceiveHeader();
  if (header.kind != NFTJIT_FRAME_WELCOME || header.length != sizeof welcome) {
    Refuse("the server did not welcome this client", NULL);
  }
  ReceiveAll(&welcome, sizeof welcome);
  if (welcome.version != NFTJIT_WIRE_VERSION) Refuse("the server speaks another version of the protocol", NULL);
  host_names_allowed = welcome.host_names != 0;
}
