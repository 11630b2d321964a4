#pragma once
// A conversation as facts, independent of the carrier that will hold it.

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark::support {

// Which release's shapes a text line has.
enum class Era {
  kFiles3,     // 2026.3 – 2026.7: JSONL, header version 3, entry ids of 8 hex
  kDatabase4,  // 2026.8 and later: agent database, header version 4, UUIDs
};

// Seeded ids: UUIDs (version 4 shape) and 8-hex ids.
class Ids {
 public:
  explicit Ids(std::uint64_t seed) : random_(seed) {}
  std::string uuid();
  std::string hex(std::size_t digits);
  std::string next(Era era) { return era == Era::kDatabase4 ? uuid() : hex(8); }
  std::uint64_t number(std::uint64_t below) { return below == 0 ? 0 : random_() % below; }

 private:
  std::mt19937_64 random_;
};

struct Sender {
  std::string id = {};        // "111222333"; empty: the host recorded none
  std::string name = {};      // "Ada Lovelace"
  std::string username = {};  // "ada_l"
  bool owner = false;
};

struct ToolUse {
  std::string call_id = {};
  std::string name = {};
  std::string arguments = "{}";  // JSON text of an object
};

enum class ItemKind { kMessage, kReset, kCompaction, kLeaf, kCustom, kModelChange, kRaw };

// One entry of a transcript after its header.
struct Item {
  ItemKind kind = ItemKind::kMessage;
  std::string id = {};
  std::string parent = {};      // empty: the item before it in the list (or null for the first)
  std::int64_t entry_ms = 0;    // `timestamp` of the entry
  std::int64_t message_ms = 0;  // `message.timestamp`; 0: as entry_ms
  std::string role = "user";    // user, assistant, toolResult, custom
  std::string text = {};  // one text block; of kCompaction: the summary; of kRaw: the whole line
  std::vector<std::string> blocks = {};      // further text blocks after `text`
  std::string thinking = {};                 // assistant only
  Sender sender = {};                        // user only
  std::vector<ToolUse> tools = {};           // assistant only
  std::string call_id = {}, tool_name = {};  // toolResult only
  // "", "delivery-mirror", "gateway-injected", "heartbeat" (internal_system), "excluded"
  // (excludeFromContext)
  std::string mark = {};
  std::string reason = {};  // kReset: new, reset, idle, daily
  std::string target =
      {};  // kLeaf: entry from which the branch goes on; kCompaction: firstKeptEntryId
};

struct Conversation {
  std::string agent = "main";
  std::string session_id = {};
  std::string session_key = "agent:main:main";
  std::string channel = {};    // "telegram"; empty for operator surfaces
  std::string chat_type = {};  // "direct", "group"; may be empty
  std::string cwd = "/home/user/.openclaw/workspace";
  std::int64_t start_ms = 0;
  std::vector<Item> items = {};
};

// The text that is hashed: text blocks joined by '\n'.
std::string text_of(const Item& item);
bool is_message(const Item& item);
// Ids of all messages (any role and mark), in order.
std::vector<std::string> message_ids(const Conversation& conversation);
// Fills in what a writer would otherwise guess: parents (linear), entry_ms.
void complete(Conversation& conversation);
// Messages off the active path, as the host would reckon it from parents and leaf rows.
std::vector<std::string> rewound_ids(const Conversation& conversation);

// One line of JSON, without the newline, with the members that the host writes, in its order.
std::string header_json(const Conversation& conversation, Era era);
std::string item_json(const Conversation& conversation, const Item& item, Era era);

struct MakeOptions {
  std::uint64_t seed = 1;
  std::size_t messages = 20;  // of all roles
  Era era = Era::kDatabase4;
  std::string agent = "main";
  std::string session_key = "agent:main:main";
  std::string session_id = {};       // empty: drawn from the seed
  std::string channel = {};          // with `senders`: people talk there
  std::vector<Sender> senders = {};  // who speaks in turn; empty: the owner
  std::int64_t start_ms = 1'794'000'000'000;
  std::int64_t step_ms = 45'000;
  bool tools = true;  // every seventh exchange calls a tool
  bool long_texts =
      true;  // every ninth message is longer than 1 KiB (a zstd row in the agent database)
};
// User and assistant in turn about invented but distinct things; the same options give the same
// bytes.
Conversation make_conversation(const MakeOptions& options);
// `count` more messages at the end of a conversation; gives the index of the first new item.
std::size_t extend(Conversation& conversation, std::uint64_t seed, std::size_t count, Era era);

std::string iso_ms(std::int64_t ms);      // 2026-11-29T19:17:24.316Z
std::string file_stamp(std::int64_t ms);  // 2026-11-29T19-17-24.316Z, as in names of archives

}  // namespace clawmark::support
