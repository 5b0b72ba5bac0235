// A whole service on a free port, and a client that says exactly what it is told to.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "server/http/http_server.h"
#include "server/io/json_in.h"
#include "server/jobs/service.h"
#include "tests/server/running.h"

namespace sdip::test {

struct Answer {
  int status = 0;                              // 0: the connection ended without one
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
  Json json() const { return Json::parse(body); }
};

/// What stands in the bytes of an answer; status 0 where its head is not whole.
Answer parse_answer(const std::string& text);

/// Sends bytes to the port and reads what comes until the server closes; `then` is sent when something has come.
Answer send_bytes(int port, const std::string& bytes, std::string then = "");

class Site {
 public:
  explicit Site(const ServerLimits& limits = {});
  ~Site();
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  Answer get(const std::string& path) const { return request("GET", path); }
  Answer post(const std::string& path, const std::string& json) const {
    return request("POST", path, json, "application/json");
  }
  Answer put(const std::string& path, const std::string& bytes) const {
    return request("PUT", path, bytes, "application/octet-stream");
  }
  Answer request(const std::string& method, const std::string& path, const std::string& body = "",
                 const std::string& type = "") const;
  /// Starts a sweep and waits until its state is `state` (60 s at most); returns its id.
  std::string sweep(const std::string& spec, const std::string& state = "done") const;
  /// Asks for a validation; returns its id.
  std::string validation(const std::string& request) const;
  /// Waits until what is at `path` is in that state (60 s at most); returns it.
  Json wait_for(const std::string& path, const std::string& state) const;
  Json wait_for_state(const std::string& id, const std::string& state) const;

  TemporaryFolder folder;
  std::unique_ptr<Service> service;
  std::unique_ptr<HttpServer> server;
  int port = 0;

 private:
  std::thread thread_;
};

/// 16 points of tiny-sd.
inline constexpr const char* small_sweep =
    R"({"model": "tiny-sd", "axes": [{"parameter": "cores", "values": [1, 2, 4, 8]},
        {"parameter": "psram_bytes", "min": 1048576, "max": 8388608, "factor": 2}]})";

/// What a small model's parts are called.
struct SmallNames {
  std::string node = "node_1", input = "x", output = "y", domain = "";
};

/// A model of one Relu node; `op` may be another type.
std::string small_onnx(const std::string& op = "Relu", const SmallNames& names = {});

}  // namespace sdip::test
