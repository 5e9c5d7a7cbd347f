import type { Json } from '../../../kernel/schema.ts'

/** A request to the demo. Its fields alone determine the response. */
export interface DemoRequest {
  model: string
  body: Json
  /** Seconds since 1970. */
  created: number
}
