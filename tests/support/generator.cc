// Seeded conversations: every message says something that no other message of the same seed says.

#include <array>
#include <string_view>

#include "tests/support/conversation.h"

namespace clawmark::support {
namespace {

constexpr std::array<std::string_view, 16> kThings = {
    "harbour survey",  "tomato bed",    "ledger export", "bike trailer",
    "choir rehearsal", "café menu",     "boiler valve",  "night train",
    "photo archive",   "maths tutor",   "canoe trip",    "piano lid",
    "garden gate",     "server closet", "飲み会の予約",  "Möwen-Zählung"};
constexpr std::array<std::string_view, 12> kPeople = {"Ada",  "Bruno", "Chidi", "Dagny",
                                                      "Emre", "Farah", "Goro",  "Hanna",
                                                      "Ines", "Jovan", "Kaya",  "Łukasz"};
constexpr std::array<std::string_view, 12> kPlaces = {"Lisbon", "Ulm",   "Gdynia", "Porto",
                                                      "Zürich", "Kyoto", "Oslo",   "Bergen",
                                                      "Graz",   "Split", "Turku",  "Łódź"};
constexpr std::array<std::string_view, 10> kVerbs = {
    "moved",  "paid for", "measured",  "postponed", "repaired",
    "booked", "sketched", "cancelled", "tested",    "labelled"};

template <std::size_t N>
std::string_view pick(Ids& ids, const std::array<std::string_view, N>& from) {
  return from[ids.number(N)];
}

std::string sentence(Ids& ids) {
  std::string out;
  out.append(pick(ids, kPeople)).append(" ").append(pick(ids, kVerbs)).append(" the ");
  out.append(pick(ids, kThings)).append(" in ").append(pick(ids, kPlaces));
  out.append(", reference ").append(ids.hex(6)).append(".");
  return out;
}

std::string long_text(Ids& ids) {
  std::string out;
  while (out.size() < 2400) out += sentence(ids) + (ids.number(5) == 0 ? "\n" : " ");
  return out;
}

struct Turn {
  Conversation& talk;
  const MakeOptions& options;
  Ids& ids;
  std::int64_t& now_ms;

  Item& add(std::string role) {
    Item item;
    item.id = ids.next(options.era);
    item.role = std::move(role);
    now_ms += options.step_ms;
    item.message_ms = now_ms;
    item.entry_ms = now_ms + 110;
    item.text = sentence(ids);
    talk.items.push_back(std::move(item));
    return talk.items.back();
  }
};

// Adds one exchange of at most `room` messages; gives how many it added.
std::size_t exchange(Turn& turn, std::size_t number, std::size_t room) {
  const std::size_t before = turn.talk.items.size();
  Item& user = turn.add("user");
  const auto& senders = turn.options.senders;
  if (!senders.empty()) user.sender = senders[number % senders.size()];
  if (turn.options.long_texts && number % 9 == 8) user.text = long_text(turn.ids);
  if (room > 3 && turn.options.tools && number % 7 == 6) {
    const std::string call = "call_" + turn.ids.hex(12);
    Item& asking = turn.add("assistant");
    asking.text.clear();
    asking.tools.push_back({call, "read", R"({"path":"notes.md"})"});
    Item& result = turn.add("toolResult");
    result.call_id = call;
    result.tool_name = "read";
  }
  if (room > 1) {
    Item& answer = turn.add("assistant");
    if (turn.options.long_texts && number % 9 == 4) answer.text = long_text(turn.ids);
    if (number % 5 == 3) answer.thinking = "Looking back at " + turn.ids.hex(4) + ".";
  }
  return turn.talk.items.size() - before;
}

}  // namespace

Conversation make_conversation(const MakeOptions& options) {
  Ids ids(options.seed * 0x9E3779B97F4A7C15ULL + 1);
  Conversation talk;
  talk.agent = options.agent;
  talk.session_key = options.session_key;
  talk.session_id = options.session_id.empty() ? ids.uuid() : options.session_id;
  talk.channel = options.channel;
  if (!options.channel.empty()) {
    talk.chat_type = options.session_key.find(":group:") == std::string::npos ? "direct" : "group";
  }
  talk.start_ms = options.start_ms;
  std::int64_t now_ms = options.start_ms;
  Item model;
  model.kind = ItemKind::kModelChange;
  model.id = ids.next(options.era);
  model.entry_ms = now_ms + 5;
  talk.items.push_back(model);
  Turn turn{talk, options, ids, now_ms};
  for (std::size_t made = 0, number = 0; made < options.messages; ++number) {
    made += exchange(turn, number, options.messages - made);
  }
  complete(talk);
  return talk;
}

std::size_t extend(Conversation& conversation, std::uint64_t seed, std::size_t count, Era era) {
  const std::size_t first = conversation.items.size();
  Ids ids(seed * 0xD1B54A32D192ED03ULL + 77);
  MakeOptions options;
  options.era = era;
  for (const auto& item : conversation.items) {
    if (item.role == "user" && !item.sender.id.empty()) {
      options.senders = {item.sender};
      break;
    }
  }
  std::int64_t now_ms = conversation.start_ms;
  if (!conversation.items.empty()) now_ms = conversation.items.back().entry_ms;
  Turn turn{conversation, options, ids, now_ms};
  for (std::size_t made = 0, number = 0; made < count; ++number) {
    made += exchange(turn, number, count - made);
  }
  complete(conversation);
  return first;
}

}  // namespace clawmark::support
