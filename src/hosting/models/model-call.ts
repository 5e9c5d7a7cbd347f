import type { AppContext } from '../../context.ts'
import type { NanoUsd } from '../../core/money.ts'
import { isRecord } from '../../core/schema.ts'
import { upstreamAnswerBytesMax } from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { type UsageBounds, chargeOf, maxCost } from '../../models/charge.ts'
import type { ModelType, Price } from '../../models/price.ts'
import type { Usage } from '../../models/usage.ts'
import { isContentFilterError } from '../../providers/error-body.ts'
import type { UpstreamPath } from '../../providers/upstream.ts'

/** What the demo provider builds with where no model is chosen. */
export const demoBuilder = 'demo/builder'

/** A model that the operator chose for our own work: where it is asked, and its price there. */
export interface ServiceModel {
  model: Model
  upstream: string
  /** Its name there. */
  name: string
  price: Price
}

/** A model that was asked gave nothing that can be used. */
export class NoModelResult extends Error {}

/** It would not do what it was asked, under its rules or in words of its own. */
export class ModelDeclined extends NoModelResult {}

/**
 * The model that a setting names, at its first upstream that has a price. Undefined when the
 * setting is empty, or names what is not served here or does something else.
 */
export function findServiceModel(ctx: AppContext, id: string, type: ModelType): ServiceModel | undefined {
  const model = id === '' ? undefined : ctx.catalogue.find(id)?.model
  if (model?.type !== type) return undefined
  for (const { upstream, model: name, price } of model.offers) {
    if (price) return { model, upstream, name, price }
  }
  return undefined
}

/** The most that one call can cost. */
export const maxCost = ({ price }: ServiceModel, bounds: UsageBounds): NanoUsd => maxCost(price, bounds)

export const costOf = ({ price }: ServiceModel, usage: Usage): NanoUsd => chargeOf(price, usage)

/** Of what an upstream says of its failure, this much is read. */
const failureBytesMax = 65_536

/** Asks a model once. Throws NoAnswer, Declined; `signal` breaks it off. */
export async function callModel(
  { upstreams }: AppContext,
  { upstream, name }: ServiceModel,
  { path, body, signal }: { path: UpstreamPath; body: Record<string, unknown>; signal: AbortSignal },
): Promise<Response> {
  const lane = upstreams.find(upstream)
  if (!lane?.isAvailable) throw new NoModelResult(`${upstream} cannot be reached just now`)
  const answer = await lane.send({ path, model: name, body, signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new NoModelResult(String(error))
  })
  if (answer.ok) return answer
  const said = new TextDecoder().decode(await readBytes(answer, failureBytesMax))
  if (isContentFilterError(said)) throw new ModelDeclined(`${upstream} declined it`)
  throw new NoModelResult(`${upstream} answered ${answer.status}`)
}

/** The bytes of an answer. Throws NoAnswer when there are none, too many, or it breaks off. */
export async function readBytes(answer: Response, max = upstreamAnswerBytesMax) {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of answer.body ?? []) {
      length += part.byteLength
      if (length > max) throw new NoModelResult('the answer is too long')
      parts.push(part)
    }
  } catch (error) {
    throw error instanceof NoModelResult ? error : new NoModelResult(`the answer broke off: ${error}`)
  }
  if (length === 0) throw new NoModelResult('the answer is empty')
  return new Uint8Array(Buffer.concat(parts))
}

/** The JSON object of an answer. Throws NoAnswer. */
export async function readJsonObject(answer: Response): Promise<Record<string, unknown>> {
  const text = new TextDecoder().decode(await readBytes(answer))
  try {
    const record: unknown = JSON.parse(text)
    if (isRecord(record)) return record
  } catch {}
  throw new NoModelResult('the answer is not a JSON object')
}
