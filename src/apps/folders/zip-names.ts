/** Decodes a name of a zip that is not UTF-8. */
export type LegacyNames = (bytes: Uint8Array) => string

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns a name in UTF-8; undefined for other bytes. */
export function inUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The upper half of code page 437 of MS-DOS, the names of a zip without a mark for UTF-8. */
const upper =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌' +
  '█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0'

export const cp437: LegacyNames = (bytes) =>
  [...bytes].map((byte) => upper[byte - 0x80] ?? String.fromCharCode(byte)).join('')

/** Letters of Europe with the marks that people write around them, as code page 437 has them. */
const european = /^[\x20-\x7eÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜáíóúñÑªº¿¡ß]*$/
/** Bytes of Japanese that happen to be letters: a small one before a capital or a symbol. */
const brokenWord = /[üéâäàåçêëèïîìæôöòûùÿáíóúñß][A-Z@[\\\]^`{|}~]/
const japanese = /[\u3040-\u30ff\u4e00-\u9fff]/

/**
 * Chooses the encoding of all names of a zip that are not UTF-8. Windows in Japan writes Shift_JIS,
 * other systems code page 437, and neither says so.
 */
export function legacyNames(names: Uint8Array[]): LegacyNames {
  const others = names.filter((bytes) => inUtf8(bytes) === undefined)
  const isEuropean = others.every((bytes) => {
    const name = cp437(bytes)
    return european.test(name) && !brokenWord.test(name)
  })
  if (isEuropean) return cp437
  const shiftJis = new TextDecoder('shift_jis', { fatal: true })
  try {
    const all = others.map((bytes) => shiftJis.decode(bytes)).join('')
    if (japanese.test(all)) return (bytes) => shiftJis.decode(bytes)
  } catch {
    // Some name is not Shift_JIS.
  }
  return cp437
}
