// XML and HTML: a reader of tags that takes what it finds, well-formed or not.

#include <algorithm>
#include <array>
#include <map>

#include "base/utf8.h"
#include "models/explore/parts.h"

namespace clawmark::shapes {
namespace {

constexpr std::size_t kChildren = 30, kHeadings = 18;
constexpr std::size_t kDeepest = 200;  // levels that are told apart
constexpr std::array<std::string_view, 9> kNeverClosed = {"br",   "hr",     "img",  "input", "link",
                                                          "meta", "source", "area", "col"};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == ':' || c == '.';
}

struct Count {
  std::size_t times = 0, place = 0;  // in the order of their first
};

std::string counted(const std::map<std::string, Count>& counts, std::size_t shown) {
  std::vector<std::pair<Count, std::string>> order;
  for (const auto& [name, count] : counts) order.emplace_back(count, name);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.first.times != b.first.times) return a.first.times > b.first.times;
    return a.first.place < b.first.place;
  });
  std::vector<std::string> out;
  for (const auto& [count, name] : order) {
    out.push_back(name + (count.times > 1 ? " × " + grouped(count.times) : ""));
  }
  return listed(out, shown);
}

struct Reader {
  bool html = false;
  std::map<std::string, Count> below_root, all;
  std::vector<std::string> open, headings;
  std::string root, title;
  std::size_t elements = 0, deepest = 0;

  void take(std::map<std::string, Count>& counts, const std::string& name) const {
    Count& count = counts[name];
    if (count.times++ == 0) count.place = counts.size();
  }

  void begin(const std::string& name, bool closed) {
    ++elements;
    if (root.empty()) root = name;
    take(all, name);
    if (open.size() == 1) take(below_root, name);
    const bool never =
        html && std::find(kNeverClosed.begin(), kNeverClosed.end(), name) != kNeverClosed.end();
    if (closed || never || open.size() >= kDeepest) return;
    open.push_back(name);
    deepest = std::max(deepest, open.size());
  }

  void end(const std::string& name) {
    const auto at = std::find(open.rbegin(), open.rend(), name);
    if (at != open.rend()) open.erase(std::prev(at.base()), open.end());
  }

  void words(std::string_view text) {
    if (!html || open.empty()) return;
    const std::string& in = open.back();
    const std::string line = brief(text, 80);
    if (line.empty()) return;
    if (in == "title" && title.empty()) title = line;
    if (in.size() == 2 && in[0] == 'h' && in[1] >= '1' && in[1] <= '3') headings.push_back(line);
  }
};

// Where what is not read as tags ends: comments, CDATA, scripts, declarations.
std::size_t skip_to(std::string_view text, std::size_t at, std::string_view end) {
  const auto found = text.find(end, at);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

}  // namespace

std::optional<std::string> markup_shape(std::string_view text, bool html) {
  const std::string_view body = trim(text);
  if (body.size() < 3 || body.front() != '<') return std::nullopt;
  Reader reader;
  reader.html = html;
  for (std::size_t at = 0; at < body.size();) {
    const auto tag = body.find('<', at);
    reader.words(body.substr(at, tag == std::string_view::npos ? tag : tag - at));
    if (tag == std::string_view::npos) break;
    const std::string_view rest = body.substr(tag);
    if (rest.starts_with("<!--")) {
      at = skip_to(body, tag, "-->");
      continue;
    }
    if (rest.starts_with("<![CDATA[")) {
      at = skip_to(body, tag, "]]>");
      continue;
    }
    if (rest.starts_with("<!") || rest.starts_with("<?")) {
      at = skip_to(body, tag, ">");
      continue;
    }
    std::size_t name_at = tag + 1;
    const bool closing = name_at < body.size() && body[name_at] == '/';
    name_at += closing;
    std::size_t name_end = name_at;
    while (name_end < body.size() && is_name(body[name_end])) ++name_end;
    if (name_end == name_at) {
      at = tag + 1;
      continue;
    }
    const std::size_t end = skip_to(body, name_end, ">");
    std::string name(body.substr(name_at, std::min<std::size_t>(name_end - name_at, 60)));
    if (html) name = lower_ascii(name);
    if (closing) {
      reader.end(name);
    } else {
      reader.begin(name, end >= 2 && body[end - 2] == '/');
    }
    at = end;
    if (html && !closing && (name == "script" || name == "style")) {
      const auto close = body.find("</" + name, at);
      at = close == std::string_view::npos ? body.size() : close;
    }
  }
  if (reader.elements < 3) return std::nullopt;
  std::string out = "Root <" + reader.root + ">, " + grouped(reader.elements) + " elements, " +
                    grouped(reader.deepest) + " levels";
  if (!reader.title.empty()) out += "\nTitle: " + reader.title;
  if (!reader.headings.empty()) out += "\nHeadings: " + listed(reader.headings, kHeadings);
  if (!reader.below_root.empty()) out += "\nBelow it: " + counted(reader.below_root, kChildren);
  return out + "\nElements: " + counted(reader.all, kChildren);
}

}  // namespace clawmark::shapes
