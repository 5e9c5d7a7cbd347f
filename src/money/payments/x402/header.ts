/** Encodes a header of x402: JSON in standard base64. */
export const toHeader = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64')

/** Decodes a header of x402. Throws for other text. */
export function fromHeader(text: string): unknown {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== text.trim().replace(/=+$/, '')) {
    throw new Error('not base64')
  }
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}
