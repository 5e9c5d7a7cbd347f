/** Text of a file, and the name of its encoding as TextDecoder has it. */
export interface DecodedText {
  text: string
  charset: string
}

/** The bytes in which browsers look for the encoding of a page (HTML, "prescan a byte stream"). */
const prescanBytes = 1_024
const declaration =
  /(<meta\b[^>]*?\bcharset\s*=\s*["']?\s*)([\w:.-]+)|(<\?xml\b[^>]*?\bencoding\s*=\s*["'])([\w:.-]+)/i

type Label = NonNullable<ConstructorParameters<typeof TextDecoder>[0]>

/** Returns whether the Encoding Standard knows a label. */
function isLabel(label: string): label is Label {
  try {
    Reflect.construct(TextDecoder, [label])
    return true
  } catch {
    return false
  }
}

function markOf([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

const inUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function decodeAs(bytes: Uint8Array, label: string): DecodedText | undefined {
  if (!isLabel(label)) return undefined
  const decoder = new TextDecoder(label)
  return { text: decoder.decode(bytes), charset: decoder.encoding }
}

/**
 * Decodes a page as browsers do: by its byte order mark, or by its meta element. A page without
 * either is UTF-8 where that is valid, and else windows-1252. The text declares UTF-8, as which it
 * is stored.
 */
export function decodePage(bytes: Uint8Array): DecodedText {
  const mark = markOf(bytes)
  const marked = mark === undefined ? undefined : decodeAs(bytes, mark)
  if (marked) return withUtf8Label(marked)
  const start = new TextDecoder('windows-1252').decode(bytes.subarray(0, prescanBytes))
  const found = declaration.exec(start)
  const label = found?.[2] ?? found?.[4]
  // A page that can say so in ASCII is not UTF-16 (HTML, the same step).
  const declared =
    label === undefined || /^utf-16/i.test(label) ? undefined : decodeAs(bytes, label)
  if (declared && declared.charset !== 'utf-8') return withUtf8Label(declared)
  const text = inUtf8(bytes)
  if (text !== undefined) return { text, charset: 'utf-8' }
  const isUtf8 = declared !== undefined
  return decodeAs(bytes, isUtf8 ? 'utf-8' : 'windows-1252') ?? { text: '', charset: 'utf-8' }
}

const withUtf8Label = ({ text, charset }: DecodedText): DecodedText => ({
  text: text.replace(declaration, (_, meta = '', _name, xml = '') => `${meta}${xml}utf-8`),
  charset,
})

/**
 * Returns a script or a style sheet in UTF-8, as which it is served: one that is not valid UTF-8
 * has the encoding that it declares, or that of its page. Returns the same bytes where nothing
 * changes.
 */
export function toUtf8(bytes: Uint8Array, pageCharset: string): Uint8Array {
  if (markOf(bytes) !== undefined || inUtf8(bytes) !== undefined) return bytes
  const start = new TextDecoder('windows-1252').decode(bytes.subarray(0, 100))
  const label = /^@charset "([\w:.-]+)";/.exec(start)?.[1] ?? pageCharset
  const decoded = label === 'utf-8' ? undefined : decodeAs(bytes, label)
  return decoded ? new TextEncoder().encode(decoded.text) : bytes
}
