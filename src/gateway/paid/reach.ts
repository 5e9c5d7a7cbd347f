import type { Registry } from '../../providers/registry.ts'
import type { Call, Path } from '../../providers/upstream.ts'
import type { Candidate, Candidates } from './candidates.ts'
import { unavailable, type Verdict, verdictOfFault, verdictOfStatus } from './verdict.ts'
import type { Watch } from './watch.ts'

/** What is sent, and how an answer is begun to be read. */
export interface Sending<T> {
  path: Path
  body: Call['body']
  watch: Watch
  open(answer: Response, by: Candidate): Promise<T | Verdict>
  /** The most output tokens of a choice, where the upstream is to be told. */
  outputMost?: (by: Candidate) => number | undefined
  /** Stands between: it may send several times, and answers what is opened. */
  through?: ((send: Send, by: Candidate) => Promise<Response | Verdict>) | undefined
}

/** Sends a body, with the most output tokens of the answer, to the upstream that is asked. */
export type Send = (body: Call['body'], outputTokensMax?: number) => Promise<Response>

/** Who served a request, or was the last to be asked, and what became of it. */
export type Reached<T> =
  | { by: Candidate; served: T; verdict?: undefined }
  | { by: Candidate; served?: undefined; verdict: Verdict }

const isVerdict = (value: object): value is Verdict => 'refusal' in value

/**
 * Asks the candidates one after the other until one begins to answer: another is asked only while
 * nothing has come that the client could have seen, and nothing that is billed.
 */
export async function reach<T extends object>(
  upstreams: Registry,
  candidates: Candidates,
  sending: Sending<T>,
): Promise<Reached<T>> {
  let last: Reached<T> = { by: candidates[0], verdict: unavailable }
  for (const by of candidates) {
    const served = await ask(upstreams, by, sending)
    if (served === undefined) continue
    if (!isVerdict(served)) return { by, served }
    last = { by, verdict: served }
    if (!served.another) break
  }
  return last
}

/** Undefined when the upstream is not there, or its breaker is open. */
async function ask<T extends object>(
  upstreams: Registry,
  by: Candidate,
  { path, body, watch, open, outputMost, through }: Sending<T>,
): Promise<T | Verdict | undefined> {
  const { upstream: name, model } = by.offer
  const upstream = upstreams.find(name)
  if (!upstream?.available) return undefined
  try {
    const call = { path, model, signal: watch.signal }
    const send: Send = (body, outputTokensMax) =>
      upstream.send({ ...call, body, ...(outputTokensMax && { outputTokensMax }) })
    const answer = through ? await through(send, by) : await send(body, outputMost?.(by))
    if (isVerdict(answer)) return answer
    if (answer.ok) return await open(answer, by)
    return verdictOfStatus(answer.status, await answer.text(), answer.headers)
  } catch (fault) {
    return verdictOfFault(fault, watch)
  }
}
