#include "tests/reliability/model_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"

namespace clawmark::reliability {
namespace {

constexpr int kDims = 16;

json::array vector_of(std::string_view text) {
  const Hash256 hash = sha256(text);
  json::array out;
  for (int i = 0; i < kDims; ++i) out.emplace_back(hash.bytes[static_cast<std::size_t>(i)] / 255.0);
  return out;
}

std::string embeddings(const json::object& request) {
  json::array data;
  if (const auto* inputs = find_array(request, "input")) {
    for (const auto& input : *inputs) {
      data.push_back(json::object{{"object", "embedding"},
                                  {"index", data.size()},
                                  {"embedding", vector_of(input.as_string())}});
    }
  }
  return to_text(json::object{{"object", "list"}, {"data", std::move(data)}});
}

// "remember KEY = VALUE", said by a person.
struct Remembered {
  std::int64_t message = 0;
  std::string key, value, text;
  json::array evidence() const { return {json::object{{"message", message}, {"quote", text}}}; }
};

std::vector<Remembered> remembered_in(std::string_view transcript) {
  std::vector<Remembered> out;
  while (!transcript.empty()) {
    const auto end = std::min(transcript.find('\n'), transcript.size());
    const auto line = parse_json(transcript.substr(0, end));
    transcript.remove_prefix(std::min(end + 1, transcript.size()));
    if (!line.ok() || !line->is_object()) continue;
    const auto& message = line->get_object();
    const std::string text = get_string(message, "text");
    const auto is = text.find(" = ");
    if (get_string(message, "role") != "user" || !text.starts_with("remember ") ||
        is == std::string::npos) {
      continue;
    }
    out.push_back({get_int(message, "id"), text.substr(9, is - 9), text.substr(is + 3), text});
  }
  return out;
}

std::string facts_of(const std::vector<Remembered>& all) {
  json::array facts;
  for (const auto& one : all) {
    facts.push_back(json::object{{"key", one.key},
                                 {"value", one.value},
                                 {"confidence", 0.95},
                                 {"evidence", one.evidence()}});
  }
  return to_text(json::object{{"facts", std::move(facts)}});
}

// Prose, and of each thing to be remembered: a task, what it refers to, and that it was decided.
std::string graph_of(const std::vector<Remembered>& all) {
  json::array nodes, edges, episodes;
  for (const auto& one : all) {
    nodes.push_back(json::object{{"type", "task"},
                                 {"name", one.key},
                                 {"status", "pending"},
                                 {"description", one.text},
                                 {"evidence", one.evidence()}});
    nodes.push_back(
        json::object{{"type", "concept"}, {"name", one.value}, {"evidence", one.evidence()}});
    edges.push_back(json::object{{"type", "REFERENCES"},
                                 {"from_type", "task"},
                                 {"from", one.key},
                                 {"to_type", "concept"},
                                 {"to", one.value},
                                 {"evidence", one.evidence()}});
    episodes.push_back(json::object{{"type", "decision"},
                                    {"title", one.text},
                                    {"salience", 0.8},
                                    {"evidence", one.evidence()}});
  }
  return "They talked, and some asked to remember things.\n" +
         to_text(json::object{{"state", ""},
                              {"nodes", std::move(nodes)},
                              {"edges", std::move(edges)},
                              {"episodes", std::move(episodes)},
                              {"merge", json::array{}}});
}

std::string completion(const json::object& request) {
  std::vector<Remembered> remembered;
  bool for_graph = false;
  if (const auto* messages = find_array(request, "messages")) {
    for (const auto& message : *messages) {
      if (!message.is_object()) continue;
      const std::string content = get_string(message.get_object(), "content");
      if (get_string(message.get_object(), "role") == "user") {
        remembered = remembered_in(content);
      } else {
        for_graph = content.find("\"facts\"") == std::string::npos;
      }
    }
  }
  const std::string text = for_graph ? graph_of(remembered) : facts_of(remembered);
  json::object message{{"role", "assistant"}, {"content", text}};
  json::object choice{{"index", 0}, {"finish_reason", "stop"}, {"message", std::move(message)}};
  json::object usage{{"prompt_tokens", 100}, {"completion_tokens", 10}};
  return to_text(json::object{{"object", "chat.completion"},
                              {"choices", json::array{std::move(choice)}},
                              {"usage", std::move(usage)}});
}

// A request's target and body; empty target: the peer went away.
std::pair<std::string, std::string> read_request(int fd) {
  std::string data;
  char buffer[65536];
  std::size_t body_at = std::string::npos, length = 0;
  for (;;) {
    if (body_at == std::string::npos) {
      const auto end = data.find("\r\n\r\n");
      if (end != std::string::npos) {
        body_at = end + 4;
        const std::string head = lower_ascii(data.substr(0, end));
        const auto at = head.find("content-length:");
        if (at != std::string::npos) length = std::stoul(head.substr(at + 15));
      }
    }
    if (body_at != std::string::npos && data.size() >= body_at + length) break;
    const auto got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return {};
    data.append(buffer, static_cast<std::size_t>(got));
  }
  const auto first = data.find(' '), second = data.find(' ', first + 1);
  return {data.substr(first + 1, second - first - 1), data.substr(body_at, length)};
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string as_http(const ServerAnswer& answer) {
  if (!answer.raw.empty()) return answer.raw;
  std::string out =
      "HTTP/1.1 " + std::to_string(answer.status) + " X\r\nContent-Type: " + answer.type +
      "\r\nConnection: close\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\n";
  for (const auto& [name, value] : answer.headers) out.append(name + ": " + value + "\r\n");
  return out + "\r\n" + answer.body;
}

}  // namespace

ServerAnswer scripted_answer(std::string_view path, std::string_view body) {
  ServerAnswer answer;
  const auto parsed = parse_json(body);
  if (!parsed.ok() || !parsed->is_object()) {
    answer.status = 400;
    answer.body = R"({"error":{"message":"no JSON"}})";
  } else if (path.ends_with("/embeddings")) {
    answer.body = embeddings(parsed->get_object());
  } else {
    answer.body = completion(parsed->get_object());
  }
  return answer;
}

struct ModelServer::State {
  Script script;
  int listener = -1;
  int port = 0;
  std::thread acceptor;
  std::mutex mutex;
  std::set<int> open;
  std::vector<std::thread> threads;
  bool stopping = false;
  std::atomic<std::int64_t> requests{0};

  void serve(int fd) {
    const auto [path, body] = read_request(fd);
    if (!path.empty()) {
      ++requests;
      const ServerAnswer answer = script(path, body);
      if (!answer.hang_up) send_all(fd, as_http(answer));
    }
    const std::lock_guard lock(mutex);
    open.erase(fd);
    ::close(fd);
  }
  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const std::lock_guard lock(mutex);
      if (fd < 0 || stopping) {
        if (fd >= 0) ::close(fd);
        return;
      }
      open.insert(fd);
      threads.emplace_back([this, fd] { serve(fd); });
    }
  }
};

ModelServer::ModelServer(Script script) : state_(std::make_shared<State>()) {
  State& s = *state_;
  s.script = std::move(script);
  s.listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(s.listener, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(s.listener, 64) != 0 ||
      ::getsockname(s.listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no port for the model server");
  }
  s.port = ntohs(address.sin_port);
  s.acceptor = std::thread([&s] { s.accept_all(); });
}

ModelServer::~ModelServer() {
  State& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    s.stopping = true;
    for (const int fd : s.open) ::shutdown(fd, SHUT_RDWR);
  }
  ::shutdown(s.listener, SHUT_RDWR);
  s.acceptor.join();
  ::close(s.listener);
  for (auto& thread : s.threads) thread.join();
}

std::string ModelServer::url() const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + "/v1";
}

std::int64_t ModelServer::requests() const {
  return state_->requests;
}

}  // namespace clawmark::reliability
