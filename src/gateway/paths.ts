/** The gateway's first path segments: never web pages. */
const segments = new Set(
  `v1 chat models images videos audio files embeddings responses accounts credits topup queries`.split(
    ' ',
  ),
)

/** Whether a path belongs to the gateway. */
export function isGateway(pathname: string): boolean {
  const end = pathname.indexOf('/', 1)
  return segments.has(end < 0 ? pathname.slice(1) : pathname.slice(1, end))
}
