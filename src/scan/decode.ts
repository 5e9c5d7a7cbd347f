/** Text out of base64, a byte a character; undefined where it is no base64. */
export function fromBase64(text: string): string | undefined {
  try {
    return atob(text)
  } catch {
    return undefined
  }
}

/** %XX and %uXXXX, as unescape and decodeURIComponent do; what is no escape stays. */
export function fromPercent(text: string): string {
  return text.replace(/%(?:u([\da-fA-F]{4})|([\da-fA-F]{2}))/g, (_, unit, byte) =>
    String.fromCharCode(Number.parseInt(unit ?? byte, 16)),
  )
}
