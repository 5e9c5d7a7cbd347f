/** Encodes a path for a URL: every character of its parts but not the slashes between them. */
export const encodePath = (path: string): string =>
  path.toWellFormed().split('/').map(encodeURIComponent).join('/')

/** Decodes a path of a URL once. Returns null for malformed escapes, as the router does. */
export function decodePath(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}
