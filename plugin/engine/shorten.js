// A message with fewer tokens: head and tail of its words, without images, or as much of both as a
// number of tokens holds.
import { IMAGE_TOKENS, isImage, jsonOf, messageTokens } from "./tokens.js";

const NOTE = " … (shortened here; the whole text is kept: rc_grep finds it, rc_slice reads it) … ";
const CUT = "…";
/** Of what is left of a text, its head. */
const HEAD_SHARE = 0.7;
/** With less than that there is no place to say where the rest is. */
const NOTED_CHARS_MIN = 100;
/** No text has more of them. */
const CHARS_PER_TOKEN_MAX = 8;

const isText = (part) => typeof part === "string" || typeof part?.text === "string";

/** All texts of a message, as one. */
function textOf({ content, text }) {
  if (!Array.isArray(content)) {
    return typeof content === "string" ? content : jsonOf(content ?? text ?? "");
  }
  return content.filter(isText).map((part) => part?.text ?? part).join("\n");
}

/** The message with one text, where its first one was. */
function withText(message, text) {
  const { content } = message;
  if (!Array.isArray(content)) return { ...message, content: text };
  const first = content.findIndex(isText);
  const rest = content.filter((part, at) => at === first || !isText(part));
  if (first < 0) return { ...message, content: [{ type: "text", text }, ...rest] };
  const whole = typeof content[first] === "string" ? { type: "text", text }
    : { ...content[first], text };
  return { ...message, content: rest.map((part) => (part === content[first] ? whole : part)) };
}

/** Head and tail of what a message says, at most about so many characters. */
export function shorten(message, chars) {
  const { content } = message;
  if (typeof content !== "string" && !(Array.isArray(content) && content.some(isText))) {
    return message;
  }
  const text = textOf(message);
  return text.length <= chars + NOTE.length ? message
    : withText(message, excerpt(text, chars, NOTE));
}

export function withoutImages(message) {
  const images = Array.isArray(message.content) ? message.content.filter(isImage).length : 0;
  return withImages(message, 0, images);
}

/** At most so many tokens, as long as they hold a mark: of words and images, as many as fit. */
export function fitted(message, tokens) {
  if (messageTokens(message) <= tokens) return message;
  const parts = Array.isArray(message.content) ? message.content : [];
  const plain = { ...message, content: parts.length === 0 ? textOf(message)
    : parts.filter((part) => isText(part) || isImage(part)) };
  const attached = parts.filter((part) => !isText(part)).length;
  const words = withImages(plain, 0, attached);
  const room = Math.floor((tokens - messageTokens(words)) / IMAGE_TOKENS);
  if (room >= 0) return withImages(plain, room, attached);
  const text = textOf(words);
  const noted = mostChars(words, text, NOTE, tokens);
  return noted >= NOTED_CHARS_MIN ? withText(words, excerpt(text, noted, NOTE))
    : withText(words, excerpt(text, Math.max(0, mostChars(words, text, CUT, tokens)), CUT));
}

/** The first `kept` images, and how many of all that was attached are not there. */
function withImages(message, kept, attached) {
  if (attached === 0) return message;
  let images = 0;
  const content = message.content.filter((part) => !isImage(part) || (images += 1) <= kept);
  const left = attached - Math.min(images, kept);
  const said = textOf({ content });
  return left === 0 ? message : withText({ ...message, content },
    `${said}${said && "\n"}(${left} of ${attached} attachments left out here)`);
}

/** Of a text's characters, as many as the tokens hold; -1: not even the mark. */
function mostChars(message, text, mark, tokens) {
  const fits = (chars) => messageTokens(withText(message, excerpt(text, chars, mark))) <= tokens;
  let most = -1;
  let over = Math.min(text.length, Math.max(0, tokens) * CHARS_PER_TOKEN_MAX) + 1;
  while (over - most > 1) {
    const chars = Math.floor((most + over) / 2);
    if (fits(chars)) most = chars;
    else over = chars;
  }
  return most;
}

function excerpt(text, chars, mark) {
  const head = Math.floor(chars * HEAD_SHARE);
  return text.slice(0, head).toWellFormed() + mark
    + text.slice(text.length - (chars - head)).toWellFormed();
}
