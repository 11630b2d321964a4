#include "models/graph/answer.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/utf8.h"
#include "models/tolerant_json.h"

namespace clawmark {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr double kConfidenceUnsaid = 0.8;
constexpr std::size_t kTagMax = 24;     // characters of "<output_json>"
constexpr std::size_t kProseWords = 5;  // behind the JSON less is a farewell

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Where something that reads like JSON begins: an opening bracket before a quote or another
// bracket (or the end: cut), or one of our members by name.
std::size_t json_begin(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{' || c == '[') {
      std::size_t next = at + 1;
      while (next < text.size() && is_blank(text[next])) ++next;
      if (next == text.size()) return at;
      const char after = text[next];
      if (after == '"' || after == '{' ||
          (c == '{' && (after == '\'' || after == '}' || after == '/'))) {
        return at;
      }
      // {nodes: [ …: bare names.
      for (const std::string_view member : {"nodes", "edges", "episodes", "state", "prose"}) {
        if (c == '{' && text.substr(next).starts_with(member)) return at;
      }
    }
    // The same as YAML: a line "nodes:".
    if (at == 0 || text[at - 1] == '\n') {
      const std::string_view line =
          trim(text.substr(at, std::min(text.find('\n', at), text.size()) - at));
      for (const std::string_view member : {"nodes", "edges", "episodes"}) {
        const std::string_view rest = line.starts_with(member) ? line.substr(member.size()) : "";
        if (rest == ":" || rest == ": []") return at;
      }
    }
    if (c == '"' || c == '\'') {
      for (const std::string_view member :
           {"nodes", "edges", "episodes", "merge", "merges", "state", "evidence"}) {
        const std::string_view rest = text.substr(at + 1);
        if (!rest.starts_with(member) || rest.size() <= member.size() || rest[member.size()] != c) {
          continue;
        }
        std::size_t colon = member.size() + 1;
        while (colon < rest.size() && is_blank(rest[colon])) ++colon;
        if (colon == rest.size() || rest[colon] == ':') return at;
      }
    }
  }
  return kNowhere;
}

// Thinking is not for anyone: closed blocks, and what follows one that was never closed.
std::string without_thinking(std::string_view given) {
  std::string text(given);
  for (const std::string_view tag : {"think", "thinking", "reasoning"}) {
    const std::string open = "<" + std::string(tag) + ">", close = "</" + std::string(tag) + ">";
    for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open)) {
      const std::size_t end = text.find(close, at);
      text.erase(at, end == std::string::npos ? std::string::npos : end + close.size() - at);
    }
    if (const std::size_t end = text.find(close); end != std::string::npos) {
      text.erase(0, end + close.size());
    }
  }
  return text;
}

std::vector<Evidence> evidence_of(const json::object& item) {
  std::vector<Evidence> out;
  const auto add = [&](const json::object& one) {
    out.push_back({get_int(one, "message"), get_string(one, "quote")});
  };
  if (const auto* list = find_array(item, "evidence")) {
    for (const auto& one : *list) {
      if (one.is_object()) add(one.get_object());
    }
  } else if (const auto* single = find_object(item, "evidence")) {
    add(*single);
  }
  return out;
}

double share(const json::object& item, std::string_view key, double fallback) {
  const double given = get_double(item, key, fallback);
  return given >= 0 && given <= 1 ? given : std::clamp(fallback, 0.0, 1.0);
}

std::optional<TimeMs> time_of(const json::object& item, std::string_view key) {
  std::string text = get_string(item, key);
  if (text.size() == 10) text += "T00:00:00Z";
  return text.empty() ? std::nullopt : parse_iso(text);
}

// "Depends on", "depends_on" → "DEPENDS_ON".
std::string edge_name(std::string_view given) {
  std::string out;
  for (const char c : given) {
    out += c == ' ' || c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  }
  return out;
}

struct Reader {
  GraphAnswer& out;
  std::vector<const json::object*> nodes;  // as they stand in the answer, for merges

  void node(const json::object& item) {
    GraphNode node;
    node.type = lower_ascii(get_string(item, "type"));
    node.name = collapse_space(get_string(item, "name"));
    node.description = collapse_space(get_string(item, "description"));
    node.status = lower_ascii(get_string(item, "status"));
    node.reason = collapse_space(get_string(item, "reason"));
    node.slot = get_string(item, "slot");
    node.choice = get_string(item, "choice");
    node.replaces = get_string(item, "replaces");
    node.confidence = share(item, "confidence", kConfidenceUnsaid);
    node.due = time_of(item, "due");
    if (const auto* list = find_array(item, "aliases")) {
      for (const auto& alias : *list) {
        if (alias.is_string()) node.aliases.emplace_back(view(alias.get_string()));
      }
    }
    node.evidence = evidence_of(item);
    if (!is_node_type(node.type)) {
      out.drop("unknown_node_type");
    } else if (node.name.empty()) {
      out.drop("malformed");
    } else {
      out.nodes.push_back(std::move(node));
    }
  }

  // A name's type, when the edge does not say it.
  std::string type_of(const std::string& name) const {
    for (const auto& node : out.nodes) {
      if (fold_case(node.name) == fold_case(name)) return node.type;
    }
    return {};
  }

  void edge(const json::object& item) {
    GraphEdge edge;
    edge.type = edge_name(get_string(item, "type"));
    edge.from = collapse_space(get_string(item, "from"));
    edge.to = collapse_space(get_string(item, "to"));
    edge.from_type = lower_ascii(get_string(item, "from_type"));
    edge.to_type = lower_ascii(get_string(item, "to_type"));
    if (edge.from_type.empty()) edge.from_type = type_of(edge.from);
    if (edge.to_type.empty()) edge.to_type = type_of(edge.to);
    edge.slot = get_string(item, "slot");
    edge.closes = get_bool(item, "ended");
    edge.at = time_of(item, edge.closes ? "until" : "since");
    if (!edge.closes) edge.until = time_of(item, "until");
    edge.confidence = share(item, "confidence", kConfidenceUnsaid);
    edge.evidence = evidence_of(item);
    if (!is_edge_type(edge.type)) {
      out.drop("unknown_edge_type");
    } else if (edge.from.empty() || edge.to.empty()) {
      out.drop("malformed");
    } else if (!is_node_type(edge.from_type) || !is_node_type(edge.to_type)) {
      out.drop("unknown_node_type");
    } else {
      out.edges.push_back(std::move(edge));
    }
  }

  void episode(const json::object& item) {
    GraphEpisode episode;
    episode.type = lower_ascii(get_string(item, "type", get_string(item, "event_type")));
    episode.title = collapse_space(get_string(item, "title"));
    episode.description = collapse_space(get_string(item, "description"));
    episode.salience = share(item, "salience", 0.5);
    if (const auto* list = find_array(item, "nodes")) {
      for (const auto& name : *list) {
        if (name.is_string()) episode.nodes.emplace_back(view(name.get_string()));
      }
    }
    episode.evidence = evidence_of(item);
    if (episode.title.empty()) episode.title = episode.description;
    if (!is_episode_type(episode.type)) {
      out.drop("unknown_episode_type");
    } else if (episode.title.empty()) {
      out.drop("malformed");
    } else {
      out.episodes.push_back(std::move(episode));
    }
  }

  // Indices are the model's: checked, never trusted.
  void merge(const json::object& item) {
    const auto index = [&](std::string_view key) -> const json::object* {
      const auto at = get_optional_int(item, key);
      if (!at || *at < 0 || *at >= static_cast<std::int64_t>(nodes.size())) return nullptr;
      return nodes[static_cast<std::size_t>(*at)];
    };
    const json::object* from = index("id");
    const json::object* into = index("duplicate_of");
    GraphMerge merge;
    if (from != nullptr && into != nullptr && from != into) {
      merge.type = lower_ascii(get_string(*into, "type"));
      if (lower_ascii(get_string(*from, "type")) == merge.type) {
        merge.from = collapse_space(get_string(*from, "name"));
        merge.into = collapse_space(get_string(*into, "name"));
        merge.evidence = evidence_of(*from);
      }
    }
    if (merge.from.empty() || merge.into.empty() || !is_node_type(merge.type)) {
      out.drop("bad_merge");
    } else {
      out.merges.push_back(std::move(merge));
    }
  }
};

template <class Each>
void for_objects(const json::object& from, std::string_view key, GraphAnswer& out,
                 const Each& each) {
  const auto* list = find_array(from, key);
  if (list == nullptr) return;
  for (const auto& item : *list) {
    if (item.is_object()) {
      each(item.get_object());
    } else {
      out.drop("malformed");
    }
  }
}

void read_json(const json::object& object, GraphAnswer& out) {
  Reader reader{out, {}};
  for_objects(object, "nodes", out, [&](const json::object& item) {
    reader.nodes.push_back(&item);
    reader.node(item);
  });
  for_objects(object, "edges", out, [&](const json::object& item) { reader.edge(item); });
  for_objects(object, "episodes", out, [&](const json::object& item) { reader.episode(item); });
  for (const char* key : {"merge", "merges"}) {
    for_objects(object, key, out, [&](const json::object& item) { reader.merge(item); });
  }
  out.state = clean_prose(get_string(object, "state"));
}

// Where something that reads like JSON stands in a text. What cannot be read as JSON reaches to the
// end: nobody knows where prose would go on.
struct Block {
  std::size_t begin = kNowhere, end = kNowhere;
  TolerantValue read;
};

Block next_block(std::string_view text, std::size_t from) {
  Block block;
  const std::size_t begin = json_begin(text.substr(from));
  if (begin == kNowhere) return block;
  block.begin = from + begin;
  block.end = text.size();
  const char c = text[block.begin];
  if (c != '{' && c != '[') return block;
  block.read = read_tolerant_json(text.substr(block.begin));
  if (block.read.end == TolerantEnd::kWhole) block.end = block.begin + block.read.used;
  return block;
}

bool is_ours(const TolerantValue& read) {
  if (read.end == TolerantEnd::kBad || !read.value.is_object()) return false;
  const json::object& object = read.value.get_object();
  for (const char* key : {"nodes", "edges", "episodes", "state", "merge", "prose"}) {
    if (find(object, key) != nullptr) return true;
  }
  return false;
}

// "<json>" before it, "</json>" behind it.
std::string_view without_tag_at_end(std::string_view text) {
  const std::string_view bare = trim(text);
  const std::size_t open = bare.rfind('<');
  const bool tag = bare.ends_with('>') && open != kNowhere && bare.size() - open <= kTagMax &&
                   bare.find_first_of(" \n<>", open + 1) == bare.size() - 1;
  return tag ? bare.substr(0, open) : text;
}
std::string_view without_tag_at_begin(std::string_view text) {
  const std::string_view bare = trim(text);
  if (!bare.starts_with("</")) return text;
  const std::size_t close = bare.find('>');
  return close != kNowhere && close <= kTagMax ? bare.substr(close + 1) : text;
}

// Lines of prose, without fences and labels of what followed.
std::string clean_lines(std::string_view prose) {
  std::string out;
  while (!prose.empty()) {
    const std::size_t end = std::min(prose.find('\n'), prose.size());
    const std::string_view line = prose.substr(0, end);
    const std::string_view bare = trim(line);
    const bool fence = bare.starts_with("```") || bare.starts_with("~~~");
    const bool label = lower_ascii(bare) == "json" || lower_ascii(bare) == "json:";
    if (!fence && !label) out.append(line).append("\n");
    prose.remove_prefix(std::min(end + 1, prose.size()));
  }
  // A fence that was cut, or one opened on the same line.
  while (!out.empty() && (is_blank(out.back()) || out.back() == '`' || out.back() == '~')) {
    out.pop_back();
  }
  return std::string(trim(out));
}

// What stands around the JSON in a text.
std::string around_json(std::string_view text) {
  std::string out;
  std::size_t from = 0;
  for (;;) {
    const Block block = next_block(text, from);
    std::string_view piece = text.substr(from, std::min(block.begin, text.size()) - from);
    if (from > 0) piece = without_tag_at_begin(piece);
    if (block.begin != kNowhere) piece = without_tag_at_end(piece);
    const bool twice = !out.empty() && is_blank(out.back()) && piece.starts_with(' ');
    out += twice ? piece.substr(1) : piece;
    if (block.begin == kNowhere || block.end >= text.size()) break;
    from = block.end;
  }
  return clean_lines(out);
}

std::size_t word_count_of(std::string_view text) {
  const std::string plain = collapse_space(text);
  return plain.empty() ? 0
                       : 1 + static_cast<std::size_t>(std::count(plain.begin(), plain.end(), ' '));
}

}  // namespace

std::string clean_prose(std::string_view given) {
  return around_json(without_thinking(given));
}

ParsedGraph parse_graph_answer(std::string_view given) {
  ParsedGraph out;
  const std::string text = without_thinking(given);
  // The largest of what may be ours: a snippet in the prose is not the answer.
  Block best;
  std::size_t best_size = 0;
  for (std::size_t from = 0; from < text.size();) {
    Block block = next_block(text, from);
    if (block.begin == kNowhere) break;
    const std::size_t size = block.end - block.begin;
    // Behind what is no JSON there may be some.
    const bool bad = block.read.end == TolerantEnd::kBad;
    from = bad ? block.begin + 1 : block.end;
    if (!is_ours(block.read) || size < best_size) continue;
    best_size = size;
    best = std::move(block);
  }
  if (best.begin == kNowhere) {
    out.answer.prose = around_json(text);
    return out;
  }
  const json::object& object = best.read.value.get_object();
  out.found_json = true;
  out.answer.cut = best.read.end == TolerantEnd::kCut;
  out.answer.drop("malformed", best.read.skipped);
  read_json(object, out.answer);
  const std::string_view before = std::string_view(text).substr(0, best.begin);
  out.answer.prose = around_json(std::string(before) + "{}");
  if (out.answer.prose.empty()) out.answer.prose = clean_prose(get_string(object, "prose"));
  if (out.answer.prose.empty()) {
    const std::string after = around_json("{}" + text.substr(best.end));
    if (word_count_of(after) >= kProseWords) out.answer.prose = after;
  }
  return out;
}

}  // namespace clawmark
