import { jsonBodyBytesMax, jsonDepthMax, jsonValuesMax } from '../limits.ts'
import { Refusal } from '../refusals.ts'

/**
 * A request's body, whole, at most `max` bytes. Refuses too_large as soon as more is announced
 * or has come, before it is kept.
 */
export async function readBytes(request: Request, max: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > max) throw new Refusal('too_large', { bytes: announced, max })
  // A body never has more bytes than its head announces; in one piece it is read at half the cost.
  if (announced > 0) return request.bytes()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > max) throw new Refusal('too_large', { bytes, max })
    chunks.push(chunk)
  }
  const [first] = chunks
  return chunks.length === 1 && first ? first : Buffer.concat(chunks)
}

/**
 * A request's JSON body (RFC 8259): UTF-8, at most `max` bytes (26 MB), nested at most 64 deep,
 * of at most 100,000 values.
 * Answers undefined when there is none. Refuses too_large, and bad_request with what is wrong.
 */
export async function readJson(request: Request, max = jsonBodyBytesMax): Promise<unknown> {
  const bytes = await readBytes(request, max)
  if (bytes.byteLength === 0) return undefined
  checkForm(bytes)
  await breathe(bytes)
  const text = decode(bytes)
  await breathe(bytes)
  return parse(text)
}

const largeBytesMin = 262_144

/** Each step over a few megabytes takes some milliseconds: others are answered in between. */
async function breathe(bytes: Uint8Array): Promise<void> {
  if (bytes.byteLength >= largeBytesMin) await new Promise((resolve) => setImmediate(resolve))
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return refuse('The body is not JSON: it is not UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return refuse('The body is not JSON: it does not parse.')
  }
}

/**
 * Counts brackets and commas outside of texts before anything is parsed: a few megabytes of short
 * values would keep the parser, and whoever then looks at each of them, busy for seconds.
 */
function checkForm(json: Uint8Array): void {
  let depth = 0
  let values = 1
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = textEnd(json, at + 1)
    else if (byte === 0x5b || byte === 0x7b) depth += 1
    else if (byte === 0x5d || byte === 0x7d) depth -= 1
    else if (byte === 0x2c) values += 1
    if (depth > jsonDepthMax) refuse(`The body is nested more than ${jsonDepthMax} deep.`)
    if (values > jsonValuesMax) refuse(`The body has more than ${jsonValuesMax} values.`)
  }
}

const quote = 0x22
const backslash = 0x5c

/** Where the quote stands that ends a text. */
function textEnd(json: Uint8Array, from: number): number {
  let at = from
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}

function refuse(problem: string): never {
  throw new Refusal('bad_request', { problem })
}
