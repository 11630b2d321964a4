#pragma once
// POST /v1/assemble and /v1/compact: what stands in a request for the part of a conversation that
// the context engine leaves out (docs/history.md). The plugin cuts; here is what it may cut, and
// what to say instead.

#include "serve/serving.h"

namespace clawmark {

struct ContextRequest {
  bool world = false;     // summaries and state are wanted, else only the count
  TimeMs from, before;    // summaries that begin in [from, before); zero: open
  std::size_t chars = 0;  // of the block, at most
  Seq as_of;              // of an earlier answer whose block is still used; zero: of none
};
ContextRequest parse_context(const json::object& body);

struct ContextAnswer {
  bool open = false;        // whether the caller may see its conversation at all
  std::int64_t stored = 0;  // messages of this conversation that can be found and read
  std::int64_t held = 0;    // messages of the session that the host shows, with all of no words
  bool summarised = false;  // whether summaries are made at all: not by built-in rules
  TimeMs covered;           // all that was said through here has summaries; zero: none has
  std::string block;        // guarded; summaries by time, then where things were left off
  std::int64_t summaries = 0, left_out = 0;
  Seq as_of;           // this answer knows the log through here
  bool stale = false;  // something was forgotten since the request's as_of
};
Result<ContextAnswer> conversation_context(Serving& serving, Database& db, const Sight& sight,
                                           const std::string& session_id,
                                           const ContextRequest& request);
json::object to_json(const ContextAnswer& answer);

}  // namespace clawmark
