#include "models/explore/exploration.h"

#include <array>

#include "base/limits_world.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "models/explore/parts.h"

namespace clawmark {
namespace {

constexpr std::size_t kEndChars = 500;  // of the beginning and of the end

// The value of an attribute in `<file name="a.csv" mime="text/csv">`.
std::string attribute(std::string_view tag, std::string_view name) {
  const std::string wanted = " " + std::string(name) + "=\"";
  const auto at = tag.find(wanted);
  if (at == std::string_view::npos) return {};
  const auto from = at + wanted.size();
  const auto end = tag.find('"', from);
  if (end == std::string_view::npos) return {};
  return redact_secrets(prefix_code_points(tag.substr(from, end - from), kFileNameChars));
}

std::string extension(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string() : lower_ascii(name.substr(dot + 1));
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  for (const auto item : list) {
    if (item == text) return true;
  }
  return false;
}

// What name and media type say; empty: nothing.
std::string_view declared_kind(std::string_view name, std::string_view mime) {
  const std::string ext = extension(name);
  if (is_one_of(ext, {"json", "geojson"}) || mime == "application/json") return "json";
  if (is_one_of(ext, {"jsonl", "ndjson"})) return "json lines";
  if (ext == "csv" || mime == "text/csv") return "csv";
  if (ext == "tsv" || mime == "text/tab-separated-values") return "tsv";
  if (is_one_of(ext, {"yaml", "yml"}) || mime.find("yaml") != std::string_view::npos) return "yaml";
  if (is_one_of(ext, {"html", "htm"}) || mime == "text/html") return "html";
  if (is_one_of(ext, {"xml", "svg", "rss"}) || mime.find("xml") != std::string_view::npos) {
    return "xml";
  }
  if (ext == "log") return "log";
  if (is_one_of(ext, {"c",   "cc",  "cpp",   "h",   "hpp", "cs",  "go", "java", "js",
                      "jsx", "kt",  "lua",   "mjs", "php", "pl",  "py", "rb",   "rs",
                      "sh",  "sql", "swift", "ts",  "tsx", "vue", "zig"})) {
    return "code";
  }
  if (is_one_of(ext, {"md", "txt", "rst"})) return "text";
  return {};
}

struct Shape {
  std::string kind, lines;
};

std::optional<Shape> of_kind(std::string_view kind, std::string_view text,
                             const shapes::Lines& lines, bool named) {
  std::optional<std::string> found;
  if (kind == "json") found = shapes::json_shape(text);
  if (kind == "json lines") found = shapes::json_lines_shape(lines);
  if (kind == "csv" || kind == "tsv") {
    const char delimiter = shapes::table_delimiter(lines);
    if (delimiter != 0 || named) {
      const char used = delimiter != 0 ? delimiter : kind == "tsv" ? '\t' : ',';
      found = shapes::table_shape(text, used, named);
      if (found) return Shape{used == '\t' ? "tsv" : "csv", std::move(*found)};
    }
  }
  if (kind == "yaml") found = shapes::yaml_shape(lines, named);
  if (kind == "xml" || kind == "html") {
    const std::string head = lower_ascii(trim(text).substr(0, 200));
    const bool html = kind == "html" || head.find("<html") != std::string::npos ||
                      head.starts_with("<!doctype html");
    found = shapes::markup_shape(text, html);
    if (found) return Shape{html ? "html" : "xml", std::move(*found)};
  }
  if (kind == "log" && (named || shapes::looks_like_log(lines))) found = shapes::log_shape(lines);
  if (kind == "code" && (named || shapes::looks_like_code(lines))) {
    found = shapes::code_shape(lines);
  }
  if (kind == "text") found = shapes::text_shape(lines);
  if (!found) return std::nullopt;
  return Shape{std::string(kind), std::move(*found)};
}

Shape shape_of(std::string_view text, const shapes::Lines& lines, std::string_view declared) {
  if (!declared.empty()) {
    if (auto shape = of_kind(declared, text, lines, true)) return std::move(*shape);
  }
  for (const std::string_view kind :
       {"json", "json lines", "xml", "log", "csv", "yaml", "code", "text"}) {
    if (auto shape = of_kind(kind, text, lines, false)) return std::move(*shape);
  }
  return {"text", ""};
}

std::string upper_first(std::string_view kind) {
  if (is_one_of(kind, {"json", "csv", "tsv", "yaml", "xml", "html"})) {
    std::string out(kind);
    for (char& c : out) c = static_cast<char>(c - 'a' + 'A');
    return out;
  }
  if (kind == "json lines") return "JSON lines";
  std::string out(kind);
  out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

}  // namespace

std::size_t rough_tokens(std::string_view text) {
  return (count_code_points(text) + kCharsPerToken - 1) / kCharsPerToken;
}

std::vector<LargePart> large_parts(std::string_view text, std::size_t tokens_min) {
  std::vector<LargePart> out;
  if (text.size() < tokens_min || rough_tokens(text) < tokens_min) return out;
  std::size_t inside = 0;
  for (std::size_t at = 0; (at = text.find("<file ", at)) != std::string_view::npos;) {
    const auto open_end = text.find('>', at);
    if (open_end == std::string_view::npos) break;
    const auto close = text.find("</file>", open_end);
    if (close == std::string_view::npos) break;
    const auto tag = text.substr(at, open_end - at);
    const auto start = open_end + 1;
    if (tag.find('\n') == std::string_view::npos &&
        rough_tokens(text.substr(start, close - start)) >= tokens_min) {
      const std::string mime = attribute(tag, "mime");
      out.push_back({start, close - start, attribute(tag, "name"),
                     mime.empty() ? attribute(tag, "type") : mime});
      inside += close - start;
    }
    at = close;
  }
  // A bound from below: bytes are at least as many as characters.
  const bool rest_is_large = (text.size() - inside) / kCharsPerToken >= tokens_min;
  if (out.empty() || rest_is_large) out = {{0, text.size(), "", ""}};
  return out;
}

Exploration explore(std::string_view raw, std::string_view name, std::string_view mime) {
  const std::string valid = to_valid_utf8(prefix_bytes(raw, kFileExploredBytes));
  const std::string text = redact_secrets(valid);
  const shapes::Lines lines = shapes::lines_of(text);
  Shape shape = shape_of(text, lines, declared_kind(name, mime));
  std::string out = upper_first(shape.kind) + ", " + shapes::grouped(raw.size()) + " bytes, " +
                    shapes::grouped(lines.size()) + (lines.size() == 1 ? " line" : " lines") +
                    ", about " + shapes::grouped(rough_tokens(raw)) + " tokens";
  if (raw.size() > kFileExploredBytes) {
    out += " (looked at: the first " + shapes::grouped(kFileExploredBytes) + " bytes)";
  }
  out += "\n" + shape.lines;
  if (out.back() != '\n') out.push_back('\n');
  const std::size_t ends = 2 * (kEndChars + 20);
  std::string body(prefix_code_points(out, kFileSummaryChars - ends));
  if (body.size() < out.size()) body += "…\n";
  const std::size_t bytes = std::min(text.size(), 4 * 4 * kEndChars);
  const std::string_view all = text;
  body += "Begins: " + shapes::brief(all.substr(0, bytes), kEndChars) + "\n";
  if (raw.size() <= kFileExploredBytes) {
    const std::string tail = collapse_space(suffix_bytes(all, bytes));
    const std::size_t chars = count_code_points(tail);
    std::string_view end = tail;
    if (chars > kEndChars) end.remove_prefix(prefix_code_points(tail, chars - kEndChars).size());
    body += "Ends: " + std::string(chars > kEndChars ? "…" : "") + std::string(trim(end)) + "\n";
  }
  body.pop_back();
  return {std::move(shape.kind), std::move(body)};
}

}  // namespace clawmark
