import type { AppContext } from '../../kernel/context.ts'
import { listPageMax } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import { version } from '../../kernel/version.ts'
import { listEntries } from '../../money/ledger/reports.ts'
import { findHandles, listAllOwnedAgents } from '../../people/agents/agents.ts'
import { listConnectors, presentConnectors } from '../../people/connectors/connectors.ts'
import { list as listPasskeys } from '../../people/passkeys.ts'
import { type Person, walletOf } from '../../people/people.ts'
import { readAvatar } from '../../people/profiles/profiles.ts'
import { list as listSessions } from '../../people/sessions.ts'
import { listPersonData } from '../app-data/person-data.ts'
import { listFollows } from '../explore/follows.ts'
import {
  exportZip,
  jsonFile,
  linesFile,
  pagesOf,
  type StreamedFile,
} from '../folders/zip-stream.ts'
import { presentEntry } from '../me/statements/operations.ts'
import { readOwnProfile } from '../profiles/operations.ts'
import { presentPerson } from './owned-agents.ts'

async function* filesOfPerson(ctx: AppContext, person: Person): AsyncGenerator<StreamedFile> {
  const [record, profile, avatar, sessions, passkeys, agents, follows, connectors] =
    await Promise.all([
      presentPerson(ctx, person),
      readOwnProfile(ctx, person),
      readAvatar(ctx, person.id),
      listSessions(ctx, person),
      listPasskeys(ctx, person),
      listAllOwnedAgents(ctx.db.read, person.id),
      listFollows(ctx, person.id),
      listConnectors(ctx, person.id),
    ])
  const handles = await findHandles(
    ctx,
    follows.map(({ maker }) => maker),
  )
  yield jsonFile('person.json', {
    format: 1,
    berth: version,
    server: ctx.urls.app,
    exported: iso(ctx.clock.now()),
    person: record,
    profile,
    sessions: sessions.map(({ browser, created, seen }) => ({
      browser,
      created: iso(created),
      seen: iso(seen),
    })),
    passkeys: passkeys.map(({ name, created }) => ({ name, created: iso(created) })),
    agents: agents.map(({ handle }) => handle),
    connectors: await presentConnectors(ctx, connectors),
    follows: follows.map(({ maker }) => handles.get(maker) ?? null),
  })
  if (avatar) yield { path: 'avatar.webp', content: [avatar] }
  const entries = pagesOf(
    (before: number | undefined) =>
      listEntries(ctx, walletOf(person), { limit: listPageMax, before }),
    (entry) => entry.number,
  )
  yield linesFile('wallet.jsonl', entries, (rows) => rows.map(presentEntry))
  yield linesFile('players.jsonl', listPersonData(ctx, person.id))
}

/** Streams a zip with what the server keeps about a person, without the data of their agents. */
export const exportPerson = (ctx: AppContext, person: Person): AsyncGenerator<Uint8Array> =>
  exportZip(filesOfPerson(ctx, person))
