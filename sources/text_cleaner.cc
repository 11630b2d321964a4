#include "sources/text_cleaner.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/guard.h"
#include "base/json.h"
#include "base/secrets.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr std::string_view kContextMark = "\xE2\x9F\xA6openclaw:ctx\xE2\x9F\xA7";  // ⟦openclaw:ctx⟧
constexpr std::string_view kInternalOpen = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
constexpr std::string_view kInternalClose = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
constexpr std::string_view kExternalOpen = "<<<EXTERNAL_UNTRUSTED_CONTENT";
constexpr std::string_view kExternalClose = "<<<END_EXTERNAL_UNTRUSTED_CONTENT";
constexpr std::size_t kHeaderLineMax =
    160;  // bytes of a metadata heading; the host's longest is 70

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view trim_left(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

std::size_t after_line(std::string_view text, std::size_t at) {
  const auto end = text.find('\n', at);
  return end == npos ? text.size() : end + 1;
}

// "2026-11-29 19:28" or with 'T', anywhere in `text`.
bool holds_date_time(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddsdd:dd";
  for (std::size_t at = 0; at + kShape.size() <= text.size(); ++at) {
    bool ok = true;
    for (std::size_t i = 0; ok && i < kShape.size(); ++i) {
      const char c = text[at + i];
      if (kShape[i] == 'd') {
        ok = is_digit(c);
      } else if (kShape[i] == 's') {
        ok = c == ' ' || c == 'T';
      } else {
        ok = c == kShape[i];
      }
    }
    if (ok) return true;
  }
  return false;
}

// Length of "[Sun 2026-11-29 19:28 UTC] " or "[Telegram Ada id:1 2026-11-29 19:28 UTC] "; 0: none.
std::size_t stamp_length(std::string_view text) {
  if (!text.starts_with('[')) return 0;
  const auto close = text.find_first_of("]\n");
  if (close == npos || text[close] != ']' || close > 240) return 0;
  return holds_date_time(text.substr(1, close - 1)) ? close + 1 : 0;
}

// Length of the JSON object, or of the fenced block that holds it, at the start of `text`; 0: none.
std::size_t object_length(std::string_view text) {
  if (text.starts_with("```")) {
    const auto close = text.find("\n```", 3);
    return close == npos ? text.size() : close + 4;
  }
  if (text.empty() || (text.front() != '{' && text.front() != '[')) return 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();  // cut in the middle
}

// Length of "Conversation info (untrusted metadata):" or "… : ⟦openclaw:ctx⟧" with its object; 0:
// none.
std::size_t metadata_length(std::string_view text) {
  const auto line = line_at(text, 0).substr(0, kHeaderLineMax);
  const auto untrusted = line.find("(untrusted");
  const auto marked = line.find(kContextMark);
  if (untrusted == npos && marked == npos) return 0;
  const auto heading = std::min(untrusted, marked);
  const auto word = trim(line.substr(0, heading));
  if (word.empty() || word.size() > 60 || !std::isupper(static_cast<unsigned char>(word[0]))) {
    return 0;
  }
  std::size_t at = 0;
  if (marked != npos) {
    at = marked + kContextMark.size();
  } else {
    const auto colon = line.find("):", untrusted);
    if (colon == npos) return 0;
    at = colon + 2;
  }
  while (at < text.size() && is_blank(text[at])) ++at;
  if (text.substr(at).starts_with(kContextMark)) at += kContextMark.size();
  while (at < text.size() && is_blank(text[at])) ++at;
  return at + object_length(text.substr(at));
}

// Length of one "System: [2026-08-03 09:00] …" line, the host's own events before a user's text; 0:
// none.
std::size_t system_line_length(std::string_view text) {
  if (!text.starts_with("System:")) return 0;
  const auto line = line_at(text, 0);
  const auto rest = trim_left(line.substr(7));
  return stamp_length(rest) > 0 ? after_line(text, 0) : 0;
}

std::optional<std::string_view> nonce_in(std::string_view line) {
  std::size_t run = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && is_hex(line[i])) {
      ++run;
      continue;
    }
    if (run == kGuardNonceDigits) return line.substr(i - run, run);
    run = 0;
  }
  return std::nullopt;
}

// End of our block: past the closing line, which must carry the nonce of the opening one if that
// has one.
std::size_t own_block_end(std::string_view text) {
  const auto opening = nonce_in(line_at(text, 0));
  for (std::size_t at = after_line(text, 0); at < text.size(); at = after_line(text, at)) {
    const auto line = trim(line_at(text, at));
    if (!line.starts_with(kGuardClose) || !line.ends_with(']')) continue;
    const auto nonce = nonce_in(line);
    if (nonce && (!opening || *opening == *nonce)) return after_line(text, at);
  }
  return npos;
}

bool looks_injected(std::string_view line) {
  line = trim(line);
  if (line.empty()) return true;
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("\xE2\x80\xA2") ||
      line.front() == '[' || line.front() == '#' || line.front() == '<' || line.front() == '>') {
    return true;
  }
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  return digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')');
}

// A block without its end: its own paragraph, and those after it that still look like entries.
std::size_t cut_block_end(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && !trim(line_at(text, at)).empty()) at = after_line(text, at);
  while (at < text.size() && looks_injected(line_at(text, at))) at = after_line(text, at);
  return at;
}

// Length of an injected block at the start of `text`; 0: none.
std::size_t guard_length(std::string_view text) {
  for (const auto& marks : kKnownGuards) {
    if (!text.starts_with(marks.open)) continue;
    if (marks.open.front() == '<' && text.size() > marks.open.size()) {
      const char next = text[marks.open.size()];
      if (next != '>' && !is_blank(next) && next != '/') continue;
    }
    if (marks.open == kGuardOpen) {
      const auto end = own_block_end(text);
      return end == npos ? cut_block_end(text) : end;
    }
    const auto close = text.find(marks.close);
    return close == npos ? cut_block_end(text) : close + marks.close.size();
  }
  return 0;
}

std::size_t span_length(std::string_view text, std::string_view open, std::string_view close) {
  if (!text.starts_with(open)) return 0;
  const auto end = text.find(close, open.size());
  return end == npos ? text.size() : after_line(text, end);
}

// Lines that only the host or a plugin writes, wherever they stand.
std::size_t host_line_length(std::string_view text) {
  const auto line = trim(line_at(text, 0));
  const bool bracketed =
      line.ends_with(']') && (line.starts_with("[media attached") ||
                              line.starts_with("[User image:") || line.starts_with("[message_id:"));
  return bracketed || line.starts_with("Runtime: agent=") ? after_line(text, 0) : 0;
}

// Blocks that may begin on any line.
std::size_t block_length(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto n = guard_length(text)) return n;
  if (const auto n = span_length(text, kInternalOpen, kInternalClose)) return n;
  if (const auto n = span_length(text, kExternalOpen, kExternalClose)) return n;
  if (const auto n = span_length(text, "[Replying to ", "[/Replying]")) {
    return text.find("[/Replying]") == npos ? 0 : n;
  }
  return host_line_length(text);
}

// Envelopes stand only before the text.
std::size_t envelope_length(std::string_view text) {
  if (const auto n = stamp_length(text)) return n;
  if (const auto n = metadata_length(text)) return n;
  if (const auto n = system_line_length(text)) return n;
  if (text.starts_with("[[reply_to")) {
    const auto close = text.find("]]");
    if (close != npos && close < 80) return close + 2;
  }
  if (text.starts_with("<think>")) {
    const auto close = text.find("</think>");
    if (close != npos) return close + 8;
  }
  return 0;
}

std::string_view strip_front(std::string_view text) {
  for (;;) {
    text = trim_left(text);
    if (text.empty()) return text;
    auto n = envelope_length(text);
    if (n == 0) n = block_length(text);
    if (n == 0) return text;
    text.remove_prefix(std::min(n, text.size()));
  }
}

std::string strip_blocks(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto n = block_length(text.substr(at));
    if (n > 0) {
      at += n;
      continue;
    }
    const auto next = after_line(text, at);
    out.append(text.substr(at, next - at));
    at = next;
  }
  return out;
}

// LCM 0.4 – 0.11 stored the raw JSON of an assistant's blocks, thinking and signatures included.
std::optional<std::string> text_of_blocks(std::string_view text) {
  if (!text.starts_with("[{") || !text.ends_with("}]")) return std::nullopt;
  const auto parsed = parse_json(text);
  if (!parsed.ok() || !parsed->is_array()) return std::nullopt;
  constexpr std::array<std::string_view, 10> kTypes = {
      "text",      "thinking",   "toolCall", "tool_use", "redacted_thinking",
      "reasoning", "toolResult", "image",    "tool",     "function_call"};
  std::string out;
  for (const auto& block : parsed->get_array()) {
    const auto* object = block.if_object();
    if (object == nullptr) return std::nullopt;
    const auto type = get_string(*object, "type");
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) return std::nullopt;
    if (type != "text") continue;
    if (!out.empty()) out.push_back('\n');
    out.append(get_string(*object, "text"));
  }
  return out;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_command(std::string_view text) {
  if (!text.starts_with('/') || text.size() < 2 || text.find('\n') != npos) return false;
  std::size_t end = 1;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' ||
          text[end] == '-' || text[end] == ':' || text[end] == '@')) {
    ++end;
  }
  if (end == text.size()) return end > 1;
  if (text[end] != ' ') return false;  // "/usr/bin is full" is talk
  const auto word = lower_ascii(text.substr(1, end - 1));
  return is_one_of(word,
                   {"new",      "reset",     "status",    "help",     "model",    "models",
                    "think",    "verbose",   "reasoning", "stop",     "restart",  "compact",
                    "context",  "usage",     "skill",     "config",   "debug",    "activation",
                    "send",     "queue",     "tts",       "exec",     "bash",     "approve",
                    "elevated", "allowlist", "subagents", "clawmark", "lossless", "lcm",
                    "commands", "whoami",    "id",        "memory",   "focus",    "trace"});
}

bool is_boot(std::string_view text) {
  constexpr std::array<std::string_view, 5> kStarts = {
      "You are running a boot check", "A new session was started via",
      "Pre-compaction memory flush", "Run your Session Startup sequence", "[OpenClaw boot"};
  for (const auto start : kStarts) {
    if (text.starts_with(start)) return true;
  }
  return text.find("follow BOOT.md") != npos || text.find("Follow BOOT.md") != npos;
}

bool is_heartbeat(std::string_view text) {
  return text.starts_with("[OpenClaw heartbeat") || text.starts_with("Read HEARTBEAT.md") ||
         (text.size() < 1000 && text.find("reply HEARTBEAT_OK") != npos);
}

bool is_summary(std::string_view text) {
  constexpr std::array<std::string_view, 6> kStarts = {
      "LCM compaction leaf pass",
      "LCM compaction condensed pass",
      "The conversation history before this point was compacted",
      "The following is a summary of a branch",
      "<summary id=\"sum_",
      "<conversation_summary"};
  for (const auto start : kStarts) {
    if (text.starts_with(start)) return true;
  }
  return false;
}

// HEARTBEAT_OK, NO_REPLY and their like, alone but for marks around them.
bool is_ack(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') word.push_back(c);
    if (word.size() > 24) return false;
  }
  while (!word.empty() && word.front() == '_') word.erase(0, 1);
  while (!word.empty() && word.back() == '_') word.pop_back();
  return is_one_of(word, {"HEARTBEAT_OK", "NO_REPLY", "ANNOUNCE_SKIP", "REPLY_SKIP"});
}

}  // namespace

std::string clean_text(std::string_view raw) {
  std::string text = to_valid_utf8(raw);
  std::erase(text, '\0');
  if (auto blocks = text_of_blocks(trim(text))) text = *std::move(blocks);
  std::string out = strip_blocks(strip_front(text));
  return std::string(trim(strip_front(out)));
}

std::string presentable_text(std::string_view raw) {
  return to_valid_utf8(redact_secrets(clean_text(raw)));
}

std::string classify_noise(std::string_view role, std::string_view raw) {
  const auto head = trim(raw.substr(0, 4096));
  if (head.starts_with(kOwnCallMark)) return "own_call";
  if (is_summary(head)) return "summary";
  const std::string text = clean_text(raw);
  if (role == "user" || role == "system") {
    const auto plain = trim(text);
    if (is_heartbeat(plain) || is_heartbeat(head)) return "heartbeat";
    if (is_boot(plain) || is_boot(head.substr(0, 400))) return "boot";
    if (plain.empty() && head.starts_with("System:")) return "boot";
    if (is_summary(plain)) return "summary";
    if (plain.starts_with(kOwnCallMark)) return "own_call";
    if (role == "user" && is_command(plain)) return "command";
  }
  if (text.empty()) return "empty";
  return is_ack(text) ? "ack" : "";
}

}  // namespace clawmark
