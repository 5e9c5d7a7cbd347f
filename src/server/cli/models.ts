import type { Model } from '../../gateway/models/catalog.ts'
import { isFree, presentPrice, type Price, readPrice } from '../../gateway/models/price.ts'
import {
  type ListedModel,
  parseModelList,
  parseSyncedModels,
} from '../../gateway/models/public-lists.ts'
import { mediaPricePage, mediaPricesCheckedAt } from '../../gateway/models/published-models.ts'
import { listServedModels } from '../../gateway/providers/model-list.ts'
import { keyedUpstreams, splitKeys } from '../../gateway/providers/registry.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { Signals } from '../../kernel/db/signals.ts'
import { describeFailure, fetchJson } from '../../kernel/fetch.ts'
import { modelListBytesMax } from '../../kernel/limits.ts'
import { openLog } from '../../kernel/log.ts'
import { toUsd } from '../../kernel/money.ts'
import { second, systemClock } from '../../kernel/time.ts'
import { readPriceList, sharePriceList, writePriceList } from '../../store/data-files.ts'
import { openModels } from '../context.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'
import { inColumns } from './terminal.ts'

/** Public lists of models with their prices. The first with a model wins. */
const publicLists = [
  'https://models.dev/api.json',
  'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
]
const fetchMs = 60 * second
/** A price that changes by more than this factor is suspect until the operator confirms it. */
const jumpMax = 10n
/** The number of names that a command prints. */
const namesMax = 20
/** A clock and a log that prints nothing, for commands that read the models. */
const quiet = { clock: systemClock, log: openLog(systemClock, () => undefined) }

/**
 * Stores the prices that public lists have for the models of providers with a key. Without `yes`,
 * suspect prices keep their old value: those that jump and those of 0.
 */
export async function sync(config: Config, urls: string[], yes: boolean): Promise<CommandResult> {
  const keyed = new Set(keyedUpstreams(config).map(({ name }) => name))
  if (keyed.size === 0)
    return failed('No API key of a provider is set, so there is nothing to sync.')
  const lines: string[] = []
  const found = new Map<string, ListedModel>()
  for (const url of urls.length > 0 ? urls : publicLists) {
    const listed = await read(url).catch(describeFailure)
    lines.push(`${url}: ${typeof listed === 'string' ? `no response: ${listed}` : listed.length}`)
    for (const row of typeof listed === 'string' ? [] : listed) {
      const key = keyOf(row)
      if (keyed.has(row.upstream) && !found.has(key)) found.set(key, row)
    }
  }
  const { suspicions, suspects } = await findSuspects(config, found)
  if (!yes) for (const row of suspects) found.delete(keyOf(row))
  if (found.size === 0) return failed([...lines, ...suspicions, 'Nothing was stored.'].join('\n'))
  const before = parseSyncedModels(await readPriceList(config.dataDir))
  const unchanged = yes
    ? []
    : before.filter((row) => suspects.some((one) => keyOf(one) === keyOf(row)))
  const synced = [...unchanged, ...found.values()]
  await writePriceList(config.dataDir, synced)
  const isShared = await share(config, synced)
  const effect = isShared
    ? 'All servers use them now.'
    : 'A running server reads them at its next start.'
  lines.push(`${found.size} models were stored. ${effect}`)
  const data = { stored: found.size, suspect: yes ? [] : suspicions }
  if (data.suspect.length === 0) return succeeded(lines.join('\n'), data)
  lines.push(...suspicions.slice(0, namesMax))
  lines.push(`${suspicions.length} were not stored. To store them too: berth models sync --yes`)
  return failed(lines.join('\n'), data)
}

/** Gives prices to all servers of a PostgreSQL database. Returns false without one. */
async function share(config: Config, synced: ListedModel[]): Promise<boolean> {
  if (config.databaseUrl === '') return false
  const db = await openEngine(config)
  await sharePriceList(db, synced)
  await new Signals({ db, ...quiet }).send('prices')
  await db.close()
  return true
}

async function read(url: string): Promise<ListedModel[]> {
  const bounds = { signal: AbortSignal.timeout(fetchMs), bytesMax: modelListBytesMax }
  return parseModelList(await fetchJson(new Request(url), bounds))
}

const keyOf = ({ upstream, model }: { upstream: string; model: string }): string =>
  `${upstream} ${model}`

/** Returns the rows with a suspect price, and a line for each with the reason. */
async function findSuspects(config: Config, found: Map<string, ListedModel>) {
  const { catalog } = await openModels({ ...config, marginPercent: 0 }, quiet)
  const offers = catalog.list().flatMap((model) => model.offers)
  const now = new Map(offers.map((offer) => [keyOf(offer), offer.price]))
  const suspects: ListedModel[] = []
  const suspicions: string[] = []
  for (const [key, row] of found) {
    const reason = suspicionOf(row, now.get(key))
    if (!reason) continue
    suspects.push(row)
    suspicions.push(`${row.upstream}: ${row.model}: ${reason}`)
  }
  return { suspicions, suspects }
}

/** Returns the reason to suspect a price; undefined where there is none. */
function suspicionOf(
  { model, listing }: ListedModel,
  current: Price | undefined,
): string | undefined {
  const price = readPrice(listing.price ?? {})
  if ('error' in price) return price.error
  if (isFree(price, 0)) return model.endsWith(':free') ? undefined : 'the price is 0'
  for (const part of ['prompt', 'completion'] as const) {
    const [old, next] = [current?.[part], price[part]]
    if (old === undefined || next === undefined) continue
    if (next > old * jumpMax || old > next * jumpMax)
      return `the ${part} price changes more than 10 times`
  }
  return undefined
}

/** `berth models list`: lists the models that this server serves, with prices and upstreams. */
export async function list(config: Config): Promise<CommandResult> {
  const { catalog } = await openModels(config, quiet)
  const models = catalog.list()
  const rows = models.map((model) => [
    model.id,
    model.type,
    priceText(model.price),
    upstreamsOf(model).join(', '),
  ])
  return succeeded(inColumns([['MODEL', 'TYPE', 'PRICE IN USD', 'UPSTREAMS'], ...rows]), {
    models: models.map((model) => ({
      id: model.id,
      type: model.type,
      price: model.price ? presentPrice(model.price) : null,
      upstreams: upstreamsOf(model),
    })),
  })
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
  const unpriced = all.flatMap(({ id, price }) => (price ? [] : [id]))
  const upstreams = [...keyedUpstreams(config), ...config.upstreams].flatMap(splitKeys)
  const checks = await Promise.all(upstreams.map((upstream) => checkUpstream(upstream, all)))
  const pages = upstreams.flatMap(({ name }) => mediaNote(name) ?? [])
  const lines = unpriced.map((id) => `unpriced: ${id}`)
  const text = [...checks.flatMap(linesOf), ...pages, ...lines].join('\n')
  const isGood = ({ gone, problem }: CheckedUpstream) => gone.length === 0 && problem === null
  const ok = unpriced.length === 0 && checks.every(isGood)
  const data = { ok, upstreams: checks, unpriced }
  const shown = text || 'No upstream is configured.'
  return ok ? succeeded(shown, data) : failed(shown, data)
}

/** Names the page to compare with prices that no public list has. */
function mediaNote(upstream: string): string | undefined {
  const page = mediaPricePage(upstream)
  return (
    page && `${upstream}: media prices are from ${mediaPricesCheckedAt}; compare them with ${page}`
  )
}

/** An upstream beside the catalog. `serves` is null where its API does not list its models. */
interface CheckedUpstream {
  name: string
  serves: number | null
  /** Models that it serves and the catalog lacks. */
  unknown: string[]
  /** Models of the catalog that it no longer serves. */
  gone: string[]
  problem: string | null
}

function linesOf({ name, serves, unknown, gone, problem }: CheckedUpstream): string[] {
  if (problem !== null) return [`${name}: no response: ${problem}`]
  if (serves === null) return [`${name}: its API does not list its models`]
  return [
    `${name}: serves ${serves} models`,
    ...(unknown.length > 0 ? [`${name}: not in the catalog: ${joinNames(unknown)}`] : []),
    ...(gone.length > 0 ? [`${name}: no longer served: ${joinNames(gone)}`] : []),
  ]
}

/** Compares the models that an upstream serves with those that the catalog offers there. */
async function checkUpstream(
  upstream: Parameters<typeof listServedModels>[0] & { name: string },
  all: Model[],
): Promise<CheckedUpstream> {
  const { name } = upstream
  const nothing = { name, serves: null, unknown: [], gone: [], problem: null }
  try {
    const served = await listServedModels(upstream)
    if (!served) return nothing
    const offered = all.flatMap(({ id, offers }) =>
      offers.flatMap((offer) => (offer.upstream === name ? [{ id, model: offer.model }] : [])),
    )
    const servedNames = new Set(served.flatMap((model) => [model, undated(model)]))
    const known = new Set(offered.flatMap(({ model }) => [model, undated(model)]))
    const gone = offered.filter(({ model }) => !servedNames.has(model)).map(({ id }) => id)
    const unknown = served.filter((model) => !known.has(model) && !known.has(undated(model)))
    return { ...nothing, serves: served.length, unknown, gone }
  } catch (error) {
    return { ...nothing, problem: describeFailure(error) }
  }
}

/** Removes the date or tag of a version: upstreams serve the newest one without it, too. */
const undated = (model: string): string =>
  model.replace(/(-\d{4}-?\d{2}-?\d{2}|-\d{3}|-latest|:latest)$/, '')

const joinNames = (names: string[]): string => {
  const more = names.length - namesMax
  return names.slice(0, namesMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
