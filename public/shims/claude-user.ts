/**
 * The namespace `user` of `claude.use`: the player, by an id that only this app has. No call
 * rejects: what a page may not know is null, '' or false. Source: the type definitions that Claude
 * serves to pages (November 2026).
 */
import { db } from './bridge-calls.ts'
import { avatarOf, colorOf } from './player-look.ts'

/** Asks the player once. A player who does not agree has no id. */
const find = (): Promise<{ id: string | null; name: string }> =>
  db.me().catch(() => ({ id: null, name: '' }))

const id = async (): Promise<string | null> => (await find()).id

const never = async (): Promise<boolean> => false

const look = (player: string | null) => ({
  avatarUrl: avatarOf(player ?? ''),
  color: colorOf(player ?? ''),
  email: null,
})

async function me() {
  const player = await find()
  return { ...player, ...look(player.id), isOwner: false, canEdit: false }
}

/** Other players have no name here. */
async function profiles(ids: readonly string[] | string) {
  const player = await find()
  const all = [...new Set(typeof ids === 'string' ? [ids] : ids)].map(String)
  return Object.fromEntries(
    all.map((one) => {
      const isMe = one === player.id
      const name = isMe ? player.name : ''
      return [one, { id: one, name, ...look(one), isMe, guest: false }]
    }),
  )
}

export const claudeUser = Object.freeze({
  id,
  me,
  profiles,
  profile: async () => ((await id()) === null ? null : me()),
  name: async () => (await find()).name,
  avatarUrl: async () => ((await id()) === null ? null : (await me()).avatarUrl),
  email: async () => null,
  search: async () => [],
  isOwner: never,
  canEdit: never,
  /** Every player may change shared documents, and none publishes from a page. */
  can: async (name: string) => name === 'data.write' || name === 'assets.write',
})
