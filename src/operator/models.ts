import type { Config } from '../config/settings.ts'
import { openModels } from '../context.ts'
import { toUsd } from '../core/money.ts'
import type { Model } from '../models/catalogue.ts'
import { mediaPricePage, mediaPricesCheckedAt } from '../models/media-prices.ts'
import { presentPrice, type Price } from '../models/price.ts'
import { describeFailure } from '../providers/fetch-json.ts'
import { listServedModels } from '../providers/model-list.ts'
import { keyedUpstreams } from '../providers/registry.ts'
import { done, failed, type Outcome } from './outcome.ts'
import { namesMax, quiet, sync } from './price-sync.ts'

/**
 * `berth models list`, `check`, `sync [--yes] [url ...]`: what is served at which price, what the
 * upstreams say of it, and newer prices of the public lists.
 */
export async function models(config: Config, words: string[], yes: boolean): Promise<Outcome> {
  const [verb, ...rest] = words
  if (verb === 'list' && rest.length === 0) return list(config)
  if (verb === 'check' && rest.length === 0) return check(config)
  if (verb === 'sync') return sync(config, rest, yes)
  return failed('usage: berth models list | check | sync [--yes] [url ...]')
}

async function list(config: Config): Promise<Outcome> {
  const { catalogue } = await openModels(config, quiet)
  const rows = catalogue
    .list()
    .map((model) => [model.id, model.type, inUsd(model.price), upstreamsOf(model).join(', ')])
  return done(inColumns([['MODEL', 'TYPE', 'PRICE IN USD', 'UPSTREAMS'], ...rows]))
}

const upstreamsOf = ({ offers }: Model): string[] => offers.map(({ upstream }) => upstream)

/** Tokens by the million, as they are compared; all else by the piece. */
function inUsd(price: Price | undefined): string {
  if (!price) return 'no published rate: it is refused'
  const { prompt, completion } = price
  const { per_image, per_second, per_character, per_minute } = presentPrice(price)
  const tokens = [
    prompt !== undefined && `${toUsd(prompt)} in`,
    completion !== undefined && `${toUsd(completion)} out`,
  ].filter(Boolean)
  const units = Object.entries({ per_image, per_second, per_character, per_minute }).flatMap(
    ([name, usd]) => (usd === undefined ? [] : [`${usd} ${name}`]),
  )
  return [...(tokens.length > 0 ? [`${tokens.join(', ')} per 1M tokens`] : []), ...units].join('; ')
}

function inColumns(rows: string[][]): string {
  const wide = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const line = (row: string[]) => row.map((cell, at) => cell.padEnd(wide[at] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** Fails where something that is offered cannot be had, or has no price. */
async function check(config: Config): Promise<Outcome> {
  const { catalogue } = await openModels(config, quiet)
  const all = catalogue.list()
  const unpriced = all.flatMap(({ id, price }) => (price ? [] : [`unpriced: ${id}`]))
  const upstreams = [...keyedUpstreams(config), ...config.upstreams]
  const asked = await Promise.all(upstreams.map((upstream) => checkUpstream(upstream, all)))
  const pages = upstreams.flatMap(({ name }) => mediaNote(name) ?? [])
  const text = [...asked.flatMap(({ lines }) => lines), ...pages, ...unpriced].join('\n')
  const ok = unpriced.length === 0 && asked.every((one) => one.ok)
  return { ok, text: text || 'no upstream is configured' }
}

/** Prices that no public list has are ours to keep: where to look when they are old. */
function mediaNote(upstream: string): string | undefined {
  const page = mediaPricePage(upstream)
  return page && `${upstream}: media at our prices of ${mediaPricesCheckedAt}; look at ${page}`
}

type Checked = { ok: boolean; lines: string[] }

/** What an upstream says it serves, beside what the catalogue offers there. */
async function checkUpstream(
  upstream: Parameters<typeof listServedModels>[0] & { name: string },
  all: Model[],
): Promise<Checked> {
  const { name, kind } = upstream
  try {
    const served = await listServedModels(upstream)
    if (!served) return { ok: true, lines: [`${name}: ${kind} does not tell what it serves`] }
    const offered = all.flatMap(({ id, offers }) =>
      offers.flatMap((offer) => (offer.upstream === name ? [{ id, model: offer.model }] : [])),
    )
    const here = new Set(served.flatMap((model) => [model, undated(model)]))
    const known = new Set(offered.flatMap(({ model }) => [model, undated(model)]))
    const gone = offered.filter(({ model }) => !here.has(model)).map(({ id }) => id)
    const unknown = served.filter((model) => !known.has(model) && !known.has(undated(model)))
    const lines = [
      `${name}: serves ${served.length} models`,
      ...(unknown.length > 0 ? [`${name}: not in the catalogue: ${named(unknown)}`] : []),
      ...(gone.length > 0 ? [`${name}: gone: ${named(gone)}`] : []),
    ]
    return { ok: gone.length === 0, lines }
  } catch (error) {
    return { ok: false, lines: [`${name}: no answer: ${describeFailure(error)}`] }
  }
}

/** A model is also had by its name without the date, or the tag, of its newest version. */
const undated = (model: string): string =>
  model.replace(/(-\d{4}-?\d{2}-?\d{2}|-\d{3}|-latest|:latest)$/, '')

const named = (names: string[]): string => {
  const more = names.length - namesMax
  return names.slice(0, namesMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
