import type { Config } from '../config/settings.ts'
import { openModels } from '../context.ts'
import { openLog } from '../core/log.ts'
import { second, systemClock } from '../core/time.ts'
import { modelListBytesMax } from '../limits.ts'
import { isFree, type Price, readPrice } from '../models/price.ts'
import { type ListedModel, parseModelList, parseSyncedModels } from '../models/public-lists.ts'
import { describeFailure, fetchJson } from '../providers/fetch-json.ts'
import { keyedUpstreams } from '../providers/registry.ts'
import { readPriceList, writePriceList } from '../storage/price-list.ts'
import { done, failed, type Outcome } from './outcome.ts'

/** Public lists of models with their prices; of two the first wins. */
const publicLists = [
  'https://models.dev/api.json',
  'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
]
const askMs = 60 * second
/** A price that is so many times another is somebody's error, until the operator says no. */
const jumpMax = 10n
/** So many of a list are named in what a command says. */
export const namesMax = 20
/** For a command that looks at the models beside a running server. */
export const quiet = { clock: systemClock, log: openLog(systemClock, () => undefined) }

/**
 * Keeps what the public lists say of the models of the providers that have a key. Prices that jump
 * stay as they are, and prices of 0 are not believed, unless `yes`.
 */
export async function sync(config: Config, urls: string[], yes: boolean): Promise<Outcome> {
  const keyed = new Set(keyedUpstreams(config).map(({ name }) => name))
  if (keyed.size === 0) return failed('There is no key of a provider: nothing to sync.')
  const said: string[] = []
  const found = new Map<string, ListedModel>()
  for (const url of urls.length > 0 ? urls : publicLists) {
    const listed = await read(url).catch(describeFailure)
    said.push(`${url}: ${typeof listed === 'string' ? `no answer: ${listed}` : listed.length}`)
    for (const row of typeof listed === 'string' ? [] : listed) {
      const key = keyOf(row)
      if (keyed.has(row.upstream) && !found.has(key)) found.set(key, row)
    }
  }
  const { jumps, refused } = await sorted(config, found)
  if (!yes) for (const row of refused) found.delete(keyOf(row))
  if (found.size === 0) return failed([...said, ...jumps, 'Nothing is kept.'].join('\n'))
  const before = parseSyncedModels(await readPriceList(config.dataDir))
  const stay = yes ? [] : before.filter((row) => refused.some((one) => keyOf(one) === keyOf(row)))
  await writePriceList(config.dataDir, [...stay, ...found.values()])
  said.push(`${found.size} models are kept; a running server takes them at its next start.`)
  if (jumps.length === 0 || yes) return done(said.join('\n'))
  said.push(...jumps.slice(0, namesMax))
  said.push(`${jumps.length} were left as they are: berth models sync --yes takes them too.`)
  return failed(said.join('\n'))
}

async function read(url: string): Promise<ListedModel[]> {
  const bounds = { signal: AbortSignal.timeout(askMs), bytesMax: modelListBytesMax }
  return parseModelList(await fetchJson(new Request(url), bounds))
}

const keyOf = ({ upstream, model }: { upstream: string; model: string }): string =>
  `${upstream} ${model}`

/** The rows whose price is not to be believed, and why. */
async function sorted(config: Config, found: Map<string, ListedModel>) {
  const { catalogue } = await openModels({ ...config, marginPercent: 0 }, quiet)
  const offers = catalogue.list().flatMap((model) => model.offers)
  const now = new Map(offers.map((offer) => [keyOf(offer), offer.price]))
  const refused: ListedModel[] = []
  const jumps: string[] = []
  for (const [key, row] of found) {
    const why = doubt(row, now.get(key))
    if (!why) continue
    refused.push(row)
    jumps.push(`${row.upstream}: ${row.model}: ${why}`)
  }
  return { jumps, refused }
}

/** Why a price is not believed; undefined where it is. */
function doubt({ model, listing }: ListedModel, now: Price | undefined): string | undefined {
  const price = readPrice(listing.price ?? {})
  if ('fault' in price) return price.error
  if (isFree(price, 0)) return model.endsWith(':free') ? undefined : 'it costs nothing'
  for (const part of ['prompt', 'completion'] as const) {
    const [old, next] = [now?.[part], price[part]]
    if (old === undefined || next === undefined) continue
    if (next > old * jumpMax || old > next * jumpMax) return `its ${part} jumps more than 10 times`
  }
  return undefined
}
