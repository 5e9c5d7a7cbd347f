/** The content type and the first bytes of a body that is not what the operation reads. */
interface SentBody {
  request: Request
  bytes: Uint8Array
}

/** The bytes of a body that show its kind. */
export const kindBytes = 512

const signatures: [kind: string, at: number, signature: number[]][] = [
  ['a zip', 0, [0x50, 0x4b, 0x03, 0x04]],
  ['a gzip archive', 0, [0x1f, 0x8b]],
  ['a tar archive', 257, [0x75, 0x73, 0x74, 0x61, 0x72]],
  ['UTF-16', 0, [0xff, 0xfe]],
  ['UTF-16', 0, [0xfe, 0xff]],
  ['UTF-16', 0, [0x7b, 0x00]],
  ['UTF-16', 0, [0x00, 0x7b]],
]

const startsWith = (bytes: Uint8Array, text: RegExp): boolean =>
  text.test(new TextDecoder().decode(bytes.subarray(0, 100)))

const isJson = (bytes: Uint8Array): boolean => startsWith(bytes, /^\s*[[{]/)

/** Returns the kind of a body by its content, or else by its content type. */
function kindOf({ request, bytes }: SentBody): string | undefined {
  const found = signatures.find(([, at, signature]) =>
    signature.every((byte, index) => bytes[at + index] === byte),
  )
  if (found) return found[0]
  const type = request.headers.get('content-type') ?? ''
  if (/^multipart\/form-data\b/i.test(type) || startsWith(bytes, /^--[^\r\n]+\r\n/)) {
    return 'multipart/form-data'
  }
  if (isJson(bytes)) return undefined
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return 'application/x-www-form-urlencoded'
  return undefined
}

/** Returns the problem of a body that the client compressed; undefined without Content-Encoding. */
function encodingProblem({ headers }: Request): string | undefined {
  const encoding = headers.get('content-encoding')?.trim() ?? ''
  if (encoding === '' || /^identity$/i.test(encoding)) return undefined
  return 'The body is compressed. Send the body without Content-Encoding.'
}

const asJson = 'Send JSON with content-type: application/json'
export const emptyProblem = `The body is empty. ${asJson}.`
const asZip = 'send the zip itself as the body with content-type: application/zip'

/**
 * Describes a body that is not JSON, and the content type to send instead. `problem` is that of the
 * JSON. `takesZip`: the operation accepts a zip, too.
 */
export function jsonProblem(sent: SentBody, problem: string, takesZip = false): string {
  const encoding = encodingProblem(sent.request)
  if (encoding !== undefined) return encoding
  const kind = kindOf(sent)
  if (kind === undefined) return isJson(sent.bytes) ? problem : `${problem} ${asJson}, in UTF-8.`
  if (kind === 'UTF-16') return `The body is not UTF-8. ${asJson}, in UTF-8.`
  if (kind === 'a zip' && takesZip) {
    return 'The body is a zip. Send it with content-type: application/zip, and the fields in the query.'
  }
  return `The body is ${kind}. ${asJson}${takesZip ? `, or ${asZip}` : ''}.`
}

/** Describes a body of application/zip that is something else; undefined where it may be a zip. */
export function zipProblem(sent: SentBody): string | undefined {
  const encoding = encodingProblem(sent.request)
  if (encoding !== undefined) return encoding
  if (sent.bytes.byteLength === 0) return `The body is empty: ${asZip}.`
  const kind = isJson(sent.bytes) ? 'JSON' : kindOf(sent)
  if (kind === undefined || kind === 'a zip') return undefined
  const isOther = kind === 'JSON'
  return `The body is ${kind}, not a zip. ${isOther ? `${asJson}, or ${asZip}` : `Instead, ${asZip}`}.`
}

/** Describes a body of a file that is wrapped; undefined for the file itself. */
export function fileProblem(sent: SentBody): string | undefined {
  const encoding = encodingProblem(sent.request)
  if (encoding !== undefined) return encoding
  if (kindOf(sent) !== 'multipart/form-data') return undefined
  return (
    'The body is multipart/form-data. Send the bytes of the file itself, with its own content ' +
    'type, or { "data": "data:..." } with content-type: application/json.'
  )
}
