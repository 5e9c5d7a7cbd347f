import { isRecord } from '../../core/schema.ts'
import { upstreamAnswerBytesMax } from '../../limits.ts'
import { recordIn } from '../../providers/answer.ts'
import { brokenOff, noContent, unreadable, type Verdict, verdictOfError } from './verdict.ts'
import type { Watch } from './watch.ts'

/** Reads an answer that is one JSON object, bounded, whatever it is of; an error is a verdict. */
export async function readRecord(
  response: Response,
  watch: Watch,
): Promise<{ answer: Record<string, unknown> } | Verdict> {
  const read = await readObject(response, watch)
  if (!('answer' in read)) return read
  const { error } = read.answer
  return isRecord(error) ? verdictOfError(error) : read
}

/** The same, where an error is a part of what is told. */
export async function readObject(
  response: Response,
  watch: Watch,
): Promise<{ answer: Record<string, unknown> } | Verdict> {
  const bytes = await readBounded(response, watch)
  if (!bytes) return brokenOff(watch)
  if (bytes.byteLength === 0) return noContent
  const answer = recordIn(new TextDecoder().decode(bytes))
  return answer ? { answer } : unreadable
}

/** Undefined when it broke off, or has more bytes than `max`. */
export async function readBounded(
  response: Response,
  watch: Watch,
  max = upstreamAnswerBytesMax,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    if (isAnnounced(response, max)) {
      watch.began()
      const whole = await response.bytes()
      return watch.cause ? undefined : whole
    }
    for await (const chunk of response.body ?? []) {
      watch.began()
      bytes += chunk.byteLength
      if (bytes > max) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return watch.cause ? undefined : Buffer.concat(chunks)
}

/** Whether its head says how long it is, and that is not too long: then it is read in one piece. */
function isAnnounced({ headers }: Response, max: number): boolean {
  const length = Number(headers.get('content-length') ?? Infinity)
  return length <= max && !headers.has('content-encoding')
}
