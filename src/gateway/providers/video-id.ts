type JsonValue = null | string | number | boolean | JsonValue[] | { [name: string]: JsonValue }

/** Encodes the state of a video job as its id, so that any process can poll it. */
export const encodeVideoId = (state: unknown): string =>
  Buffer.from(JSON.stringify(state)).toString('base64url')

/** Parses `/videos/<id>` and `/videos/<id>/content`; undefined for any other path. */
export function parseVideoPath(
  path: string,
): { id: string; state: JsonValue; isContent: boolean } | undefined {
  const [, id = '', content] = /^\/videos\/([\w-]+)(\/content)?$/.exec(path) ?? []
  try {
    const state: JsonValue = JSON.parse(Buffer.from(id, 'base64url').toString('utf8'))
    return { id, state, isContent: content !== undefined }
  } catch {
    return undefined
  }
}
