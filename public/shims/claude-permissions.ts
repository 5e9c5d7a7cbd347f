/**
 * The namespace `permissions` of `claude.use`. The shell asks the player when a page begins a use,
 * so `request` begins the shared ones, and models ask with their first call. Source: the type
 * definitions that Claude serves to pages (November 2026).
 */
import { field } from '../frame/messages.ts'
import { db } from './bridge-calls.ts'

type State = 'granted' | 'prompt' | 'denied' | 'unavailable'

const shared = ['db', 'room', 'user', 'assets']
/** The player confirms each of these anyway. */
const confirmed = ['downloads', 'permissions']
let agreed: State = 'prompt'

function stateOf(name: string): State {
  if (confirmed.includes(name)) return 'granted'
  if (name === 'sample') return 'prompt'
  return shared.includes(name) ? agreed : 'unavailable'
}

const statesOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, stateOf(name)]))

const all = [...shared, ...confirmed, 'sample']

export const claudePermissions = Object.freeze({
  state: async (name?: string) => (name === undefined ? statesOf(all) : stateOf(name)),
  /** Asks until the player has answered, and never rejects. */
  async request(names: readonly string[] = all) {
    if (agreed === 'prompt' && names.some((name) => shared.includes(name))) {
      agreed = await db.me().then(
        () => 'granted' as const,
        (error: unknown) => (field(error, 'code') === 'not_granted' ? 'denied' : 'prompt'),
      )
    }
    const states = statesOf(names)
    return names.includes('sample') ? { ...states, sample: 'granted' } : states
  },
})
