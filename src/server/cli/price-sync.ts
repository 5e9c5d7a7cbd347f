import { isFree, type Price, readPrice } from '../../gateway/models/price.ts'
import {
  type ListedModel,
  parseModelList,
  parseSyncedModels,
} from '../../gateway/models/public-lists.ts'
import { keyedUpstreams } from '../../gateway/providers/registry.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { Signals } from '../../kernel/db/signals.ts'
import { describeFailure, fetchJson } from '../../kernel/fetch.ts'
import { modelListBytesMax } from '../../kernel/limits.ts'
import { openLog } from '../../kernel/log.ts'
import { second, systemClock } from '../../kernel/time.ts'
import { readPriceList, sharePriceList, writePriceList } from '../../store/data-files.ts'
import { openModels } from '../context.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'

/** Public lists of models with their prices. The first with a model wins. */
const publicLists = [
  'https://models.dev/api.json',
  'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
]
const fetchMs = 60 * second
/** A price that changes by more than this factor is suspect until the operator confirms it. */
const jumpMax = 10n
/** The number of names that a command prints. */
export const namesMax = 20
/** A clock and a log that prints nothing, for commands that read the models. */
export const quiet = { clock: systemClock, log: openLog(systemClock, () => undefined) }

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
  if (suspicions.length === 0 || yes) return succeeded(lines.join('\n'))
  lines.push(...suspicions.slice(0, namesMax))
  lines.push(`${suspicions.length} were not stored. To store them too: berth models sync --yes`)
  return failed(lines.join('\n'))
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
