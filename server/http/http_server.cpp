// The socket that the server listens on.
#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "server/http/poller.h"

namespace sdip {
namespace {

int listening_socket(int& port) {
  if (port < 0 || port > 65535) throw Error("value_out_of_range", "--port", "expected a port from 0 to 65535");
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  // Not SO_REUSEPORT, which shares the port with whoever else asks for it.
  const bool bound = socket >= 0 && ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                     ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::listen(socket, 1024) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (!bound) {
    const int number = errno;
    if (socket >= 0) ::close(socket);
    const std::string where = "127.0.0.1:" + std::to_string(port);
    if (number == EADDRINUSE)
      throw Error("port_in_use", where, "another program listens there; choose another with --port");
    throw Error("port_unusable", where, std::string("cannot listen: ") + std::strerror(number));
  }
  port = ntohs(address.sin_port);
  return socket;
}

}  // namespace

HttpServer::HttpServer(int port, Answerer answerer, const ServerLimits& limits) : port_(port) {
  const int listener = listening_socket(port_);
  poller_ = std::make_unique<Poller>(listener, port_, std::move(answerer), limits);
}

HttpServer::~HttpServer() { stop(); }

void HttpServer::run() { poller_->run(); }

void HttpServer::stop() { poller_->stop(); }

}  // namespace sdip
