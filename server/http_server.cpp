// cpp-httplib's server with our own connection loop: each head passes the gate, each body is bounded and timed.
#include "server/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "server/client_socket.h"
#include "server/gate.h"
#include "server/workers.h"

namespace sdip {
namespace {

/// What a page may load: everything from here, nothing from elsewhere.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const std::vector<std::pair<std::string, std::string>>& security_headers() {
  static const std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Security-Policy", content_policy},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"}};
  return headers;
}

/// Runs `work`; what it throws becomes a problem. Only our own bugs reach the last two, and their text stays here.
Reply guarded(const std::function<Reply()>& work) {
  try {
    return work();
  } catch (const Error& error) {
    return problem_reply(error.code, error.where, error.what());
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: " << printable(bug.what()) << std::endl;
  } catch (...) {
    std::cerr << "sdip: internal: unknown exception" << std::endl;
  }
  return problem_reply("internal", "", "a bug of ours; the server's log has more");
}

void send_reply(httplib::Response& response, Reply reply) {
  response.status = reply.status;
  for (const auto& [name, value] : security_headers()) response.set_header(name, value);
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  if (!response.has_header("Cache-Control")) response.set_header("Cache-Control", "no-store");
  if (reply.stream) {
    response.set_chunked_content_provider(
        reply.content_type, [stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
          bool open = true;
          try {
            stream([&](std::string_view piece) {
              return open = open && (piece.empty() || sink.write(piece.data(), piece.size()));
            });
          } catch (const std::exception& problem) {  // the status is out: cut the body so that the client sees it
            std::cerr << "sdip: while streaming: " << printable(problem.what()) << std::endl;
            open = false;
          }
          if (open) sink.done();
          return open;
        });
  } else if (reply.status != 204) {
    response.set_content(reply.body, reply.content_type);
  }
}

/// Keys end at their first `=`; the library's own reading keeps only what follows a value's last one (dim=N=1).
std::multimap<std::string, std::string> query_of(const std::string& target) {
  std::multimap<std::string, std::string> query;
  const auto mark = target.find('?');
  if (mark == std::string::npos) return query;
  const std::string text = target.substr(mark + 1, target.find('#', mark) - mark - 1);
  for (std::size_t from = 0; from < text.size();) {
    const auto to = std::min(text.find('&', from), text.size());
    const std::string pair = text.substr(from, to - from);
    const auto equals = std::min(pair.find('='), pair.size());
    const std::string value = equals < pair.size() ? pair.substr(equals + 1) : "";
    if (!pair.empty())
      query.emplace(httplib::detail::decode_url(pair.substr(0, equals), true),
                    httplib::detail::decode_url(value, true));
    from = to + 1;
  }
  return query;
}

Call call_of(const httplib::Request& request) {
  Call call;
  call.method = request.method == "HEAD" ? "GET" : request.method;
  call.path = request.path;
  call.query = query_of(request.target);
  call.accept_encoding = request.get_header_value("Codings-Taken");
  call.if_none_match = request.get_header_value("If-None-Match");
  call.body = request.body;
  return call;
}

std::string reply_text(const Reply& reply) {
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) +
                     " Refused\r\nContent-Type: " + reply.content_type +
                     "\r\nContent-Length: " + std::to_string(reply.body.size()) + "\r\nConnection: close\r\n";
  for (const auto& [name, value] : security_headers()) text += name + ": " + value + "\r\n";
  return text + "\r\n" + reply.body;
}

}  // namespace

struct HttpServer::Gated : httplib::Server {
  Answerer answerer;
  ServerLimits limits;
  GateRules rules;
  Workers* workers = nullptr;  // the queue the library owns
  std::atomic<bool> stopping = false;

  void install();
  /// The library takes it badly to be stopped twice.
  void close_listener() {
    if (svr_sock_ != INVALID_SOCKET) httplib::Server::stop();
  }
  /// The library asks for 5.
  void lengthen_backlog() { ::listen(svr_sock_, 1024); }
  bool process_and_close_socket(socket_t socket) override;
  bool serve_one(ClientSocket& connection);
};

void HttpServer::Gated::install() {
  set_tcp_nodelay(true);
  set_keep_alive_max_count(1000);
  set_payload_max_length(static_cast<std::size_t>(limits.most_upload_bytes));
  // Not the library's default, which shares the port with whoever else asks for it.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  new_task_queue = [this] { return workers = new Workers(limits.workers, limits.most_waiting); };
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    bool refused = true;
    Reply reply = guarded([&] {
      auto refusal = answerer.refuse(call_of(request), request.get_header_value("Content-Type"));
      refused = refusal.has_value();
      return refusal.value_or(Reply());
    });
    if (!refused) return HandlerResponse::Unhandled;
    send_reply(response, std::move(reply));
    return HandlerResponse::Handled;
  });
  const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
    send_reply(response, guarded([&] { return answerer.answer(call_of(request)); }));
  };
  const auto answer_upload = [this](const httplib::Request& request, httplib::Response& response,
                                    const httplib::ContentReader& reader) {
    send_reply(response, guarded([&] {
                 Call call = call_of(request);
                 call.read_upload = [&](const Sink& sink) {
                   if (!reader([&](const char* data, std::size_t size) { return sink({data, size}); }))
                     throw Error("bad_request", "", "the body ended before Content-Length bytes");
                 };
                 return answerer.answer(call);
               }));
  };
  // The route table does the routing (refuse); the library's patterns only let everything through: one character
  // class, bounded by the gate's limit on paths.
  Get("/[^\\n]*", answer);
  Post("/[^\\n]*", answer);
  Delete("/[^\\n]*", answer);
  Put("/[^\\n]*", answer_upload);
  set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
    send_reply(response, problem_reply("internal", "", "a bug of ours"));
  });
  set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty() && !response.has_header("Content-Security-Policy"))
      send_reply(response, problem_reply("bad_request", "", "the request could not be read"));
  });
}

bool HttpServer::Gated::process_and_close_socket(socket_t socket) {
  ClientSocket connection(socket, {limits.head_seconds, limits.body_seconds, limits.idle_seconds});
  if (Workers::overloaded()) {
    connection.send(reply_text(problem_reply("busy", "", "too many connections; try again")));
    return false;
  }
  // An idle connection gives its worker up as soon as somebody waits for one.
  const auto wanted = [this] {
    return stopping || svr_sock_ == INVALID_SOCKET || (workers && workers->waiting() > 0);
  };
  while (connection.wait_for_request(wanted) && serve_one(connection)) {
  }
  return true;
}

/// Returns whether another request may follow on the connection.
bool HttpServer::Gated::serve_one(ClientSocket& connection) {
  Head head;
  try {
    const std::string raw = connection.read_head(most_head_bytes);
    if (raw.empty()) return false;
    head = check_head(raw, rules);
  } catch (const Error& error) {
    connection.send(reply_text(problem_reply(error.code, error.where, error.what())));
    return false;
  }
  RequestStream stream(connection, head.text, head.body_bytes);
  const bool close = !head.keep_alive || stopping;
  bool closed = false;
  const bool fine = process_request(stream, close, closed, [](httplib::Request&) {});
  return fine && !close && !closed && stream.body_is_read();
}

HttpServer::HttpServer(int port, Answerer answerer, const ServerLimits& limits)
    : gated_(std::make_unique<Gated>()) {
  gated_->answerer = std::move(answerer);
  gated_->limits = limits;
  gated_->rules.most_upload_bytes = limits.most_upload_bytes;
  gated_->install();
  if (port < 0 || port > 65535) throw Error("value_out_of_range", "--port", "expected a port from 0 to 65535");
  errno = 0;
  const bool bound =
      port == 0 ? (port = gated_->bind_to_any_port("127.0.0.1")) > 0 : gated_->bind_to_port("127.0.0.1", port);
  if (!bound) {
    const int number = errno;
    const std::string where = "127.0.0.1:" + std::to_string(port);
    if (number == EADDRINUSE)
      throw Error("port_in_use", where, "another program listens there; choose another with --port");
    throw Error("port_unusable", where, std::string("cannot listen: ") + std::strerror(number));
  }
  gated_->lengthen_backlog();
  gated_->rules.port = port;
}

HttpServer::~HttpServer() { stop(); }

int HttpServer::port() const { return gated_->rules.port; }

void HttpServer::run() {
  if (!gated_->stopping) gated_->listen_after_bind();
}

void HttpServer::stop() {
  gated_->stopping = true;
  gated_->close_listener();
}

}  // namespace sdip
