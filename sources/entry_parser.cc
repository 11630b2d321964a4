#include "sources/entry_parser.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "sources/json_sanitizer.h"
#include "sources/shown_time.h"
#include "sources/text_cleaner.h"
#include "sources/text_sink.h"

namespace clawmark {
namespace {

constexpr std::size_t kFieldBytesMax = 4096;  // of ids, names, reasons
constexpr std::size_t kToolCallsMax = 256;    // of one message

// Containers that hold something we read; all others are skipped without being kept.
enum class Node {
  kIgnored,
  kRoot,
  kMessage,
  kContent,
  kBlock,
  kProvenance,
  kMeta,
  kTransport,
  kIdentity
};

Node child_of(Node parent, std::string_view key, bool is_array) {
  if (parent == Node::kRoot && key == "message" && !is_array) return Node::kMessage;
  if (parent == Node::kContent && !is_array) return Node::kBlock;
  if (parent != Node::kMessage && parent != Node::kMeta) return Node::kIgnored;
  if (parent == Node::kMeta) {
    if (is_array) return Node::kIgnored;
    return key == "transport"        ? Node::kTransport
           : key == "senderIdentity" ? Node::kIdentity
                                     : Node::kIgnored;
  }
  if (key == "content" && is_array) return Node::kContent;
  if (key == "provenance" && !is_array) return Node::kProvenance;
  if (key == "__openclaw" && !is_array) return Node::kMeta;
  return Node::kIgnored;
}

// What an entry says, before it is judged.
struct Fields {
  std::string type, id, parent_id, target_id, reason;
  std::string role, provider, model, provenance, tool_call_id, idempotency_key;
  std::string sender_id, sender_name, sender_kind, channel;
  bool root_object = false, has_message = false, parent_given = false;
  bool exclude = false, mirror = false, owner = false;
  TimeMs time, message_time;
  bool time_off = false;
  std::vector<ToolCall> tools;
};

struct Block {
  std::string type, id, name, text;
  bool streaming = false;  // longer than kEntryTextMax: already goes to the sink
};

// As a channel tells who writes: what is not known to be a program is a person.
bool is_program(std::string_view sender_kind) {
  const std::string kind = lower_ascii(sender_kind);
  for (const std::string_view program :
       {"bot", "app", "agent", "assistant", "service", "system", "webhook"}) {
    if (kind == program) return true;
  }
  return false;
}

class Handler {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  explicit Handler(bool whole) : sink(whole), whole_(whole) {}

  Fields fields;
  TextSink sink;

  void reset() {
    fields = Fields{};
    (void)sink.finish();
    stack_.clear();
    key_.clear();
    field_ = nullptr;
    text_parts_ = 0;
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return open(false); }
  bool on_array_begin(json::error_code&) { return open(true); }
  bool on_array_end(std::size_t, json::error_code&) { return close(); }
  bool on_object_end(std::size_t, json::error_code&) { return close(); }

  bool on_key_part(json::string_view part, std::size_t total, json::error_code&) {
    if (total == part.size()) key_.clear();
    if (key_.size() <= 64) key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t total, json::error_code& code) {
    on_key_part(part, total, code);
    if (node() == Node::kRoot && key_ == "parentId") fields.parent_given = true;
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t total, json::error_code&) {
    string_part({part.data(), part.size()}, total == part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t total, json::error_code&) {
    string_part({part.data(), part.size()}, total == part.size());
    string_end();
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t value, json::string_view, json::error_code&) { return number(value); }
  bool on_uint64(std::uint64_t value, json::string_view, json::error_code&) {
    return number(static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX)));
  }
  bool on_double(double value, json::string_view, json::error_code&) {
    return value > -9e15 && value < 9e15 ? number(static_cast<std::int64_t>(value)) : true;
  }
  bool on_bool(bool value, json::error_code&) {
    if (node() == Node::kMessage && key_ == "excludeFromContext") fields.exclude = value;
    if (node() == Node::kMeta && key_ == "senderIsOwner") fields.owner = value;
    return true;
  }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  Node node() const { return stack_.empty() ? Node::kIgnored : stack_.back(); }

  bool open(bool is_array) {
    if (stack_.empty()) {
      fields.root_object = !is_array;
      stack_.push_back(is_array ? Node::kIgnored : Node::kRoot);
      return true;
    }
    const Node child = child_of(node(), key_, is_array);
    if (node() == Node::kMessage && key_ == "openclawDeliveryMirror") fields.mirror = true;
    if (child == Node::kMessage) fields.has_message = true;
    if (child == Node::kContent) {
      (void)sink.finish();
      text_parts_ = 0;
    }
    if (child == Node::kBlock) block_ = Block{};
    stack_.push_back(child);
    return true;
  }

  bool close() {
    if (node() == Node::kBlock) end_block();
    stack_.pop_back();
    // The key of the closed container is gone; its siblings bring their own. Arrays have none.
    if (node() == Node::kContent) key_.clear();
    return true;
  }

  void end_block() {
    const bool is_call = block_.type == "toolCall" || block_.type == "tool_use" ||
                         block_.type == "toolUse" || block_.type == "function_call";
    if (is_call && fields.tools.size() < kToolCallsMax) {
      fields.tools.push_back({std::move(block_.id), std::move(block_.name)});
    }
    if (block_.type != "text" || block_.streaming) return;
    begin_text_part();
    sink.append(block_.text);
  }

  void begin_text_part() {
    if (text_parts_++ > 0) sink.append("\n");
  }

  bool is_content() const { return node() == Node::kMessage && key_ == "content"; }
  bool is_block_text() const { return node() == Node::kBlock && key_ == "text"; }

  void string_part(std::string_view part, bool first) {
    if (is_content()) {
      if (first) {
        (void)sink.finish();
        text_parts_ = 1;
      }
      sink.append(part);
      return;
    }
    if (is_block_text()) return block_text(part);
    if (first) {
      field_ = field();
      if (field_ != nullptr) field_->clear();
    }
    if (field_ != nullptr && field_->size() < kFieldBytesMax) field_->append(part);
  }

  void block_text(std::string_view part) {
    if (block_.streaming) return sink.append(part);
    if (!block_.type.empty() && block_.type != "text") return;
    block_.text.append(part);
    if (block_.text.size() <= kEntryTextMax || (whole_ && block_.type.empty())) return;
    block_.streaming = true;
    begin_text_part();
    sink.append(block_.text);
    block_.text = {};
  }

  void string_end() {
    if (field_ == &time_) {
      take_time(shown_time(time_));
    }
    field_ = nullptr;
  }

  std::string* field() {
    switch (node()) {
      case Node::kRoot:
        if (key_ == "type") return &fields.type;
        if (key_ == "id") return &fields.id;
        if (key_ == "parentId") return &fields.parent_id;
        if (key_ == "targetId") return &fields.target_id;
        if (key_ == "reason") return &fields.reason;
        if (key_ == "timestamp") return &time_;
        return nullptr;
      case Node::kMessage:
        if (key_ == "role") return &fields.role;
        if (key_ == "provider") return &fields.provider;
        if (key_ == "model") return &fields.model;
        if (key_ == "toolCallId") return &fields.tool_call_id;
        if (key_ == "idempotencyKey") return &fields.idempotency_key;
        if (key_ == "timestamp") return &time_;
        return nullptr;
      case Node::kBlock:
        if (key_ == "type") return &block_.type;
        if (key_ == "id") return &block_.id;
        if (key_ == "name") return &block_.name;
        return nullptr;
      case Node::kProvenance:
        return key_ == "kind" ? &fields.provenance : nullptr;
      case Node::kMeta:
        if (key_ == "senderId") return &fields.sender_id;
        if (key_ == "senderName") return &fields.sender_name;
        return nullptr;
      case Node::kIdentity:
        return key_ == "senderKind" ? &fields.sender_kind : nullptr;
      case Node::kTransport:
        return key_ == "channel" ? &fields.channel : nullptr;
      case Node::kContent:
      case Node::kIgnored:
        return nullptr;
    }
    return nullptr;
  }

  void take_time(const ShownTime& shown) {
    if (node() != Node::kRoot && node() != Node::kMessage) return;
    (node() == Node::kRoot ? fields.time : fields.message_time) = shown.time;
    fields.time_off |= !shown.as_is;
  }

  bool number(std::int64_t value) {
    if (key_ == "timestamp") take_time(shown_time(value));
    if (node() == Node::kMeta && key_ == "senderId") fields.sender_id = std::to_string(value);
    return true;
  }

  bool whole_;
  std::vector<Node> stack_;
  std::string key_, time_;
  std::string* field_ = nullptr;
  Block block_;
  int text_parts_ = 0;
};

Error poison(const char* reason, const char* message) {
  return make_error(ErrorKind::kPoison, "entry", reason, message);
}

std::string class_of(const Fields& f) {
  if (f.exclude) return "excluded-from-context";
  if (f.role == "toolResult" || f.role == "tool" || f.role == "bashExecution") return "toolResult";
  if (f.provider == "openclaw" && f.model == "gateway-injected") return "gateway-injected";
  if (f.mirror || (f.provider == "openclaw" && f.model == "delivery-mirror")) {
    return "delivery-mirror";
  }
  if (f.provenance == "internal_system" || f.provenance == "inter_session") {
    return "internal_system";
  }
  return f.role == "user" || f.role == "assistant" ? "chat" : "internal_system";
}

EntryKind kind_of(std::string_view type) {
  if (type == "message") return EntryKind::kMessage;
  if (type == "reset") return EntryKind::kReset;
  if (type == "compaction") return EntryKind::kCompaction;
  if (type == "leaf") return EntryKind::kLeaf;
  return EntryKind::kOther;
}

json::parse_options sax_options() {
  json::parse_options options;
  options.max_depth = kJsonDepthMax;
  return options;
}

bool only_space(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

struct EntryParser::State {
  explicit State(bool whole) : parser(sax_options(), whole) {}
  json::basic_parser<Handler> parser;
  JsonSanitizer sanitizer;
  json::error_code code;
  bool extra = false;
  bool started = false;

  void write(std::string_view text) {
    if (!started && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (text.empty()) return;
    started = true;
    if (code || extra) return;
    if (parser.done()) {
      extra = !only_space(text);
      return;
    }
    const auto taken = parser.write_some(true, text.data(), text.size(), code);
    if (!code && taken < text.size()) extra = !only_space(text.substr(taken));
  }
};

EntryParser::EntryParser(Keep keep) : state_(new State(keep == Keep::kWholeText)) {}
EntryParser::~EntryParser() = default;

void EntryParser::feed(std::string_view piece) {
  state_->write(state_->sanitizer.feed(piece));
}

Result<ParsedEntry> EntryParser::finish() {
  State& s = *state_;
  s.write(s.sanitizer.finish());
  if (!s.code && !s.extra && !s.parser.done()) s.parser.write_some(false, "", 0, s.code);
  Handler& handler = s.parser.handler();
  Fields f = std::move(handler.fields);
  SunkText text = handler.sink.finish();
  const auto code = s.code;
  const bool extra = s.extra;
  s.parser.reset();
  handler.reset();
  s.code = {};
  s.extra = s.started = false;

  if (code == json::error::too_deep) return poison("too_deep", "an entry is nested too deeply");
  if (code || extra) return poison("syntax", "an entry is not valid JSON");
  if (!f.root_object) return poison("not_object", "an entry is not a JSON object");
  if (f.type.empty()) return poison("no_type", "an entry has no type");

  ParsedEntry out;
  Entry& e = out.entry;
  e.kind = kind_of(f.type);
  e.entry_id = std::move(f.id);
  e.parent_id = std::move(f.parent_id);
  e.time = f.time;
  e.time_off = f.time_off;
  out.parent_given = f.parent_given;
  if (f.type == "session") e.session_id = e.entry_id;
  if (e.kind == EntryKind::kLeaf) e.target_id = std::move(f.target_id);
  if (e.kind == EntryKind::kReset) e.reason = std::move(f.reason);
  out.type = std::move(f.type);
  if (e.kind != EntryKind::kMessage) return out;

  if (!f.has_message || f.role.empty()) return poison("no_message", "an entry has no message");
  e.message_time = f.message_time;
  if (e.time.value == 0) e.time = f.message_time;
  e.entry_class = class_of(f);
  e.role = std::move(f.role);
  e.text = std::move(text.text);
  e.bytes = text.bytes;
  e.hash = text.hash;
  e.tools = std::move(f.tools);
  e.distinct_by = std::move(f.idempotency_key.empty() ? f.tool_call_id : f.idempotency_key);
  e.channel = std::move(f.channel);
  e.sender_id = std::move(f.sender_id);
  e.sender_name = std::move(f.sender_name);
  e.sender_is_owner = f.owner;
  // Without a key two people are told apart by the host's word for them.
  if (e.distinct_by.empty() && !e.sender_id.empty()) e.distinct_by = "sender:" + e.sender_id;
  if (e.role == "user" && e.sender_id.empty()) read_envelope_sender(e);
  if (e.entry_class == "chat") e.noise = classify_noise(e.role, e.text);
  if (e.noise.empty() && e.role == "user" && is_program(f.sender_kind)) e.noise = "bot";
  return out;
}

Result<ParsedEntry> parse_entry(std::string_view json_text) {
  EntryParser parser;
  parser.feed(json_text);
  return parser.finish();
}

void read_envelope_sender(Entry& entry) {
  const std::string_view head = prefix_bytes(entry.text, 8192);
  for (const std::string_view heading : {"Sender (untrusted metadata):", "Conversation info"}) {
    const auto at = head.find(heading);
    if (at == std::string_view::npos || at > 2048) continue;
    const auto open = head.find('{', at);
    const auto line_end = head.find("\n\n", at);
    if (open == std::string_view::npos || open > line_end) continue;
    auto close = head.find("\n```", open);
    if (close == std::string_view::npos) close = std::min(line_end, head.size());
    const auto parsed = parse_json(head.substr(open, close - open));
    if (!parsed.ok() || !parsed->is_object()) continue;
    const auto& object = parsed->get_object();
    const auto* sender = find_object(object, "sender");
    const auto& from = sender != nullptr ? *sender : object;
    const bool direct = sender != nullptr || heading.starts_with("Sender");
    entry.sender_id = get_string(from, direct ? "id" : "sender_id");
    if (entry.sender_id.empty()) continue;
    entry.sender_name = get_string(from, direct ? "name" : "sender");
    if (entry.sender_name.empty()) entry.sender_name = get_string(from, "label");
    return;
  }
}

}  // namespace clawmark
