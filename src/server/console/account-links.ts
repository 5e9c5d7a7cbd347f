import { type Html, html } from '../../kernel/html.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import { findByHandle, findHandles } from '../../people/agents/agents.ts'
import { namesOf, namesOfWallets } from '../../people/listing.ts'
import { findByName, walletOf } from '../../people/people.ts'
import type { AppContext } from '../context.ts'

/** Returns the names of accounts of agents and people ("agent:…"): "@handle" or a person's name. */
export async function accountNames(ctx: AppContext, ids: string[]): Promise<Map<string, string>> {
  const idsOf = (kind: string) =>
    ids.flatMap((id) => (id.startsWith(`${kind}:`) ? id.slice(kind.length + 1) : []))
  const [handles, people, wallets] = await Promise.all([
    findHandles(ctx, idsOf('agent')),
    namesOf(ctx, idsOf('person')),
    namesOfWallets(ctx, idsOf('gateway')),
  ])
  return new Map([
    // Unknown agents have an empty handle.
    ...[...handles].flatMap(([id, handle]) =>
      handle === '' ? [] : [[`agent:${id}`, `@${handle}`] as const],
    ),
    ...[...people].map(([id, name]) => [`person:${id}`, name] as const),
    ...[...wallets].map(([id, name]) => [`gateway:${id}`, name] as const),
  ])
}

/** Returns links for accounts of agents and people, which are stored by id. */
export async function accountLinks(ctx: AppContext, ids: string[]): Promise<Map<string, Html>> {
  const names = await accountNames(ctx, ids)
  return new Map([...names].map(([id, name]) => [id, ownerLink(name)]))
}

/** Links the page of an agent or a person. */
export const ownerLink = (name: string): Html =>
  name.startsWith('@')
    ? html`<a href="/console/agents/${name.slice(1)}">${name}</a>`
    : html`<a href="/console/people/${encodeURIComponent(name)}"><bdi>${name}</bdi></a>`

/** Returns the accounts of an @handle, the name of a person or an account itself. */
export async function findAccounts(ctx: AppContext, text: string): Promise<string[]> {
  if (text.startsWith('@')) {
    const agent = await findByHandle(ctx, text.slice(1))
    return agent ? [`agent:${agent.id}`] : []
  }
  const person = await findByName(ctx, text)
  return person ? [`person:${person.id}`, accountOf(walletOf(person))] : [text]
}
