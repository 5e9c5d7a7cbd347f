import type { Model } from '../../gateway/models/catalog.ts'
import { mediaPricePage, mediaPricesCheckedAt } from '../../gateway/models/media-prices.ts'
import { presentPrice, type Price } from '../../gateway/models/price.ts'
import { listServedModels } from '../../gateway/providers/model-list.ts'
import { keyedUpstreams, splitKeys } from '../../gateway/providers/registry.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { describeFailure } from '../../kernel/fetch.ts'
import { toUsd } from '../../kernel/money.ts'
import { openModels } from '../context.ts'
import { type CommandResult, succeeded } from '../operator/command-result.ts'
import { namesMax, quiet } from './price-sync.ts'
import { inColumns } from './terminal.ts'

/** `berth models list`: lists the models that this server serves, with prices and upstreams. */
export async function list(config: Config): Promise<CommandResult> {
  const { catalog } = await openModels(config, quiet)
  const rows = catalog
    .list()
    .map((model) => [model.id, model.type, priceText(model.price), upstreamsOf(model).join(', ')])
  return succeeded(inColumns([['MODEL', 'TYPE', 'PRICE IN USD', 'UPSTREAMS'], ...rows]))
}

const upstreamsOf = ({ offers }: Model): string[] => offers.map(({ upstream }) => upstream)

/** Returns a price in USD: tokens by the million, everything else by the unit. */
function priceText(price: Price | undefined): string {
  if (!price) return 'no price: requests are rejected'
  const { prompt, completion } = price
  const { per_image, per_second, per_character, per_minute, per_search } = presentPrice(price)
  const tokens = [
    prompt !== undefined && `${toUsd(prompt)} in`,
    completion !== undefined && `${toUsd(completion)} out`,
  ].filter(Boolean)
  const units = Object.entries({ per_image, per_second, per_character, per_minute, per_search })
  const unitPrices = units.flatMap(([name, usd]) => (usd === undefined ? [] : [`${usd} ${name}`]))
  return [...(tokens.length > 0 ? [`${tokens.join(', ')} per 1M tokens`] : []), ...unitPrices].join(
    '; ',
  )
}

/** `berth models check`: fails where an upstream lacks a model, or a model has no price. */
export async function check(config: Config): Promise<CommandResult> {
  const { catalog } = await openModels(config, quiet)
  const all = catalog.list()
  const unpriced = all.flatMap(({ id, price }) => (price ? [] : [`unpriced: ${id}`]))
  const upstreams = [...keyedUpstreams(config), ...config.upstreams].flatMap(splitKeys)
  const checks = await Promise.all(upstreams.map((upstream) => checkUpstream(upstream, all)))
  const pages = upstreams.flatMap(({ name }) => mediaNote(name) ?? [])
  const text = [...checks.flatMap(({ lines }) => lines), ...pages, ...unpriced].join('\n')
  const ok = unpriced.length === 0 && checks.every((one) => one.ok)
  return { ok, text: text || 'No upstream is configured.' }
}

/** Names the page to compare with prices that no public list has. */
function mediaNote(upstream: string): string | undefined {
  const page = mediaPricePage(upstream)
  return (
    page && `${upstream}: media prices are from ${mediaPricesCheckedAt}; compare them with ${page}`
  )
}

type CheckResult = { ok: boolean; lines: string[] }

/** Compares the models that an upstream serves with those that the catalog offers there. */
async function checkUpstream(
  upstream: Parameters<typeof listServedModels>[0] & { name: string },
  all: Model[],
): Promise<CheckResult> {
  const { name, kind } = upstream
  try {
    const served = await listServedModels(upstream)
    if (!served)
      return { ok: true, lines: [`${name}: the API of ${kind} does not list its models`] }
    const offered = all.flatMap(({ id, offers }) =>
      offers.flatMap((offer) => (offer.upstream === name ? [{ id, model: offer.model }] : [])),
    )
    const servedNames = new Set(served.flatMap((model) => [model, undated(model)]))
    const known = new Set(offered.flatMap(({ model }) => [model, undated(model)]))
    const gone = offered.filter(({ model }) => !servedNames.has(model)).map(({ id }) => id)
    const unknown = served.filter((model) => !known.has(model) && !known.has(undated(model)))
    const lines = [
      `${name}: serves ${served.length} models`,
      ...(unknown.length > 0 ? [`${name}: not in the catalog: ${joinNames(unknown)}`] : []),
      ...(gone.length > 0 ? [`${name}: no longer served: ${joinNames(gone)}`] : []),
    ]
    return { ok: gone.length === 0, lines }
  } catch (error) {
    return { ok: false, lines: [`${name}: no response: ${describeFailure(error)}`] }
  }
}

/** Removes the date or tag of a version: upstreams serve the newest one without it, too. */
const undated = (model: string): string =>
  model.replace(/(-\d{4}-?\d{2}-?\d{2}|-\d{3}|-latest|:latest)$/, '')

const joinNames = (names: string[]): string => {
  const more = names.length - namesMax
  return names.slice(0, namesMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
