/** Decodes base64 to text, one character per byte; undefined when it is not base64. */
export function fromBase64(text: string): string | undefined {
  try {
    return atob(text)
  } catch {
    return undefined
  }
}

/** Decodes %XX and %uXXXX as unescape and decodeURIComponent do. Other text stays. */
export function fromPercent(text: string): string {
  return text.replace(/%(?:u([\da-fA-F]{4})|([\da-fA-F]{2}))/g, (_, unit, byte) =>
    String.fromCharCode(Number.parseInt(unit ?? byte, 16)),
  )
}
