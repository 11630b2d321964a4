#include "tests/support/conversation.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/clock.h"
#include "base/json.h"

namespace clawmark::support {
namespace {

json::object usage() {
  return {
      {"input", 1200}, {"output", 20}, {"cacheRead", 0}, {"cacheWrite", 0}, {"totalTokens", 1220}};
}

json::value nullable(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

std::int64_t message_time(const Item& item) {
  return item.message_ms != 0 ? item.message_ms : item.entry_ms;
}

void add_sender(json::object& message, const Conversation& talk, const Item& item, Era era) {
  if (era == Era::kFiles3) return;  // that era keeps no sender in the entry
  json::object meta;
  if (item.sender.id.empty()) {
    meta["senderIsOwner"] = talk.channel.empty() || item.sender.owner;
  } else {
    meta["senderIsOwner"] = item.sender.owner;
    meta["senderId"] = item.sender.id;
    meta["senderName"] = item.sender.name;
    meta["senderUsername"] = item.sender.username;
    meta["senderIdentity"] = json::object{{"type", "observation"},
                                          {"id", item.sender.id},
                                          {"pluginId", talk.channel},
                                          {"accountId", "default"},
                                          {"senderKind", "human"}};
    meta["transport"] = json::object{{"channel", talk.channel}, {"messageId", item.id}};
  }
  message["__openclaw"] = std::move(meta);
}

json::object user_message(const Conversation& talk, const Item& item, Era era) {
  json::object message{{"role", "user"}};
  if (item.blocks.empty()) {
    message["content"] = item.text;
  } else {
    json::array blocks{json::object{{"type", "text"}, {"text", item.text}}};
    for (const auto& block : item.blocks) {
      blocks.push_back(json::object{{"type", "text"}, {"text", block}});
    }
    message["content"] = std::move(blocks);
  }
  message["timestamp"] = message_time(item);
  if (item.mark == "heartbeat") {
    message["provenance"] = json::object{{"kind", "internal_system"}, {"sourceTool", "heartbeat"}};
  }
  if (era == Era::kDatabase4) message["idempotencyKey"] = item.id + ":user";
  add_sender(message, talk, item, era);
  return message;
}

json::object assistant_message(const Item& item, Era era) {
  json::array content;
  if (!item.thinking.empty()) {
    content.push_back(json::object{{"type", "thinking"},
                                   {"thinking", item.thinking},
                                   {"thinkingSignature", "reasoning_content"}});
  }
  if (!item.text.empty()) content.push_back(json::object{{"type", "text"}, {"text", item.text}});
  for (const auto& block : item.blocks) {
    content.push_back(json::object{{"type", "text"}, {"text", block}});
  }
  for (const auto& tool : item.tools) {
    content.push_back(json::object{{"type", "toolCall"},
                                   {"id", tool.call_id},
                                   {"name", tool.name},
                                   {"arguments", json::parse(tool.arguments)}});
  }
  const bool own = item.mark == "delivery-mirror" || item.mark == "gateway-injected";
  json::object message{{"role", "assistant"},
                       {"content", std::move(content)},
                       {"api", own ? "openai-responses" : "openai-completions"},
                       {"provider", own ? "openclaw" : "example"},
                       {"model", own ? item.mark : "example-1"},
                       {"usage", usage()},
                       {"stopReason", item.tools.empty() ? "stop" : "toolUse"},
                       {"timestamp", message_time(item)}};
  if (!own) message["responseId"] = "resp-" + item.id;
  if (era == Era::kDatabase4 && !own) {
    message["__openclaw"] = json::object{{"runId", "run-" + item.id}};
  }
  return message;
}

json::object tool_message(const Item& item) {
  return {{"role", "toolResult"},
          {"toolCallId", item.call_id},
          {"toolName", item.tool_name},
          {"content", json::array{json::object{{"type", "text"}, {"text", item.text}}}},
          {"details", json::object{}},
          {"isError", false},
          {"timestamp", message_time(item)}};
}

json::object message_object(const Conversation& talk, const Item& item, Era era) {
  json::object message;
  if (item.role == "user") {
    message = user_message(talk, item, era);
  } else if (item.role == "assistant") {
    message = assistant_message(item, era);
  } else if (item.role == "toolResult") {
    message = tool_message(item);
  } else {
    message = {{"role", item.role},
               {"customType", "openclaw.nested-tool.v1"},
               {"display", true},
               {"content", item.text},
               {"details", json::object{}}};
  }
  if (item.mark == "excluded") message["excludeFromContext"] = true;
  return message;
}

}  // namespace

std::string Ids::hex(std::size_t digits) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  while (out.size() < digits) {
    std::uint64_t word = random_();
    for (int i = 0; i < 16 && out.size() < digits; ++i, word >>= 4) out += kHex[word & 15];
  }
  return out;
}

std::string Ids::uuid() {
  std::string digits = hex(32);
  digits[12] = '4';
  digits[16] = "89ab"[number(4)];
  return digits.substr(0, 8) + '-' + digits.substr(8, 4) + '-' + digits.substr(12, 4) + '-' +
         digits.substr(16, 4) + '-' + digits.substr(20);
}

std::string iso_ms(std::int64_t ms) {
  return format_iso({ms});
}

std::string file_stamp(std::int64_t ms) {
  std::string stamp = iso_ms(ms);
  std::replace(stamp.begin(), stamp.end(), ':', '-');
  return stamp;
}

std::string text_of(const Item& item) {
  std::string out = item.text;
  for (const auto& block : item.blocks) out += (out.empty() ? "" : "\n") + block;
  return out;
}

bool is_message(const Item& item) {
  return item.kind == ItemKind::kMessage;
}

std::vector<std::string> message_ids(const Conversation& conversation) {
  std::vector<std::string> ids;
  for (const auto& item : conversation.items) {
    if (is_message(item)) ids.push_back(item.id);
  }
  return ids;
}

void complete(Conversation& conversation) {
  std::string leaf;
  for (auto& item : conversation.items) {
    if (item.kind == ItemKind::kRaw) continue;
    if (item.entry_ms == 0) item.entry_ms = item.message_ms;
    if (item.parent.empty()) item.parent = leaf;
    // After a leaf row the next entry hangs from its target, not from the row itself.
    leaf = item.kind == ItemKind::kLeaf ? item.target : item.id;
  }
}

std::vector<std::string> rewound_ids(const Conversation& conversation) {
  std::unordered_map<std::string, std::string> parents;
  std::string leaf;
  for (const auto& item : conversation.items) {
    if (item.kind == ItemKind::kRaw) continue;
    if (item.kind == ItemKind::kLeaf) {
      leaf = item.target;
      continue;
    }
    parents[item.id] = item.parent;
    leaf = item.id;
  }
  std::set<std::string> path;
  while (!leaf.empty() && path.insert(leaf).second) leaf = parents[leaf];
  std::vector<std::string> off;
  for (const auto& id : message_ids(conversation)) {
    if (!path.contains(id)) off.push_back(id);
  }
  return off;
}

std::string header_json(const Conversation& conversation, Era era) {
  return to_text(json::object{{"type", "session"},
                              {"version", era == Era::kDatabase4 ? 4 : 3},
                              {"id", conversation.session_id},
                              {"timestamp", iso_ms(conversation.start_ms)},
                              {"cwd", conversation.cwd}});
}

std::string item_json(const Conversation& conversation, const Item& item, Era era) {
  if (item.kind == ItemKind::kRaw) return item.text;
  json::object entry;
  const auto base = [&](const char* type) {
    entry["type"] = type;
    entry["id"] = item.id;
    entry["parentId"] = nullable(item.parent);
    entry["timestamp"] = iso_ms(item.entry_ms);
  };
  switch (item.kind) {
    case ItemKind::kMessage:
      base("message");
      entry["message"] = message_object(conversation, item, era);
      break;
    case ItemKind::kReset:
      base("reset");
      entry["reason"] = item.reason.empty() ? "new" : item.reason;
      break;
    case ItemKind::kCompaction:
      base("compaction");
      entry["summary"] = item.text;
      entry["firstKeptEntryId"] = item.target;
      entry["tokensBefore"] = 21729;
      entry["tokensAfter"] = 7850;
      entry["details"] = json::object{};
      entry["fromHook"] = false;
      break;
    case ItemKind::kLeaf:
      base("leaf");
      entry["targetId"] = item.target;
      break;
    case ItemKind::kCustom:
      base("custom");
      entry["customType"] = "model-snapshot";
      entry["data"] = json::object{{"provider", "example"}, {"modelId", "example-1"}};
      break;
    case ItemKind::kModelChange:
      base("model_change");
      entry["provider"] = "example";
      entry["modelId"] = "example-1";
      break;
    case ItemKind::kRaw:
      break;
  }
  return to_text(entry);
}

}  // namespace clawmark::support
