/** The gateway's first path segments: never web pages. */
const segments = new Set(
  `v1 chat models images videos audio files embeddings responses accounts credits topup queries`.split(
    ' ',
  ),
)

/** Whether a path belongs to the gateway. */
export const isGateway = (pathname: string): boolean => segments.has(pathname.split('/')[1] ?? '')
