import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/html.ts'
import { findByHandle, findHandles } from '../../hosting/agents/agents.ts'
import { namesOf, namesOfWallets } from '../../hosting/people/listing.ts'
import { findByName, walletOf } from '../../hosting/people/people.ts'
import { accountOf } from '../../ledger/accounts.ts'

const personLink = (name: string): Html =>
  html`<a href="/console/people/${encodeURIComponent(name)}"><bdi>${name}</bdi></a>`

/** Returns links for accounts of agents and people ("agent:…"), which are stored by id. */
export async function accountLinks(ctx: AppContext, names: string[]): Promise<Map<string, Html>> {
  const idsOf = (kind: string) =>
    names.flatMap((name) => (name.startsWith(`${kind}:`) ? name.slice(kind.length + 1) : []))
  const [handles, people, wallets] = await Promise.all([
    findHandles(ctx, idsOf('agent')),
    namesOf(ctx, idsOf('person')),
    namesOfWallets(ctx, idsOf('gateway')),
  ])
  return new Map([
    ...[...handles].map(
      ([id, handle]) =>
        [`agent:${id}`, html`<a href="/console/agents/${handle}">@${handle}</a>`] as const,
    ),
    ...[...people].map(([id, name]) => [`person:${id}`, personLink(name)] as const),
    ...[...wallets].map(([id, name]) => [`gateway:${id}`, personLink(name)] as const),
  ])
}

/** Returns the accounts of an @handle, the name of a person or an account itself. */
export async function findAccounts(ctx: AppContext, text: string): Promise<string[]> {
  if (text.startsWith('@')) {
    const agent = await findByHandle(ctx, text.slice(1))
    return agent ? [`agent:${agent.id}`] : []
  }
  const person = await findByName(ctx, text)
  return person ? [`person:${person.id}`, accountOf(walletOf(person))] : [text]
}
