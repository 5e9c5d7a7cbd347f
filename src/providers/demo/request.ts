/** A request as the demo sees it: the whole moment and nothing else decides the answer. */
export interface DemoRequest {
  model: string
  body: Record<string, unknown>
  /** Seconds since 1970. */
  created: number
}
