#pragma once
// The Model Context Protocol's server side without any I/O: lines in, lines and tool calls out.
// https://modelcontextprotocol.io/specification (JSON-RPC 2.0, one message per line).

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/limits_mcp.h"
#include "cmd/mcp_tools.h"

namespace clawmark {

// Cuts a stream of bytes into lines. A line over kMcpLineMax is dropped up to its end and reported
// once, without a text.
class McpFrames {
 public:
  struct Frame {
    std::string line;
    bool too_long = false;
  };
  // Complete lines in `bytes` and what was left of earlier ones; empty lines are left out.
  std::vector<Frame> feed(std::string_view bytes);
  // What stands behind the last line end, when the stream is over.
  std::vector<Frame> end();

 private:
  std::string rest_;
  bool dropping_ = false;
};

struct McpCall {
  std::string key;  // of the request, for finish()
  const McpTool* tool = nullptr;
  json::object arguments;
};

struct McpOutcome {
  std::string text;
  bool is_error = false;
};

// What one line asks for; at most one of the three.
struct McpReaction {
  std::string reply;  // a line to write, without its end
  std::optional<McpCall> call;
  std::string cancelled;  // key of a call whose answer nobody wants any more
};

// Any thread.
class McpServer {
 public:
  // `families`: of tools that are offered.
  McpServer(std::string version, std::vector<std::string> families);

  McpReaction take(const McpFrames::Frame& frame);
  // The line that answers a call; empty when it was cancelled.
  std::string finish(const std::string& key, const McpOutcome& outcome);

 private:
  McpReaction request(const json::object& message, const json::value& id,
                      const std::string& method);
  McpReaction initialize(const json::value& id, const json::object& params);
  McpReaction list(const json::value& id, const json::object& params) const;
  McpReaction call(const json::value& id, const json::object& params);
  McpReaction notification(const json::object& message, const std::string& method);
  const McpTool* offered(std::string_view name) const;

  const std::string version_;
  const std::vector<std::string> families_;
  std::mutex mutex_;
  bool initialized_ = false;
  std::map<std::string, json::value> running_;  // key → id
};

}  // namespace clawmark
