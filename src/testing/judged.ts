import { sha256 } from '../core/ids.ts'
import { escapeHtml } from '../core/text.ts'
import { decide, type Decision } from '../operator/decisions.ts'
import { type Answer, type Person, type TestHouse } from './test-server.ts'

/** Pages of the console about it all, and what lets the next ones come first. */
interface Judged {
  paths: string[]
  clear(): Promise<void>
}

/**
 * Gives each text as the reason of every decision, as an appeal against two of them, and as the
 * answer to that. `said` is an item of the maker's that may be commented on; bea is a person.
 */
export async function judge(
  t: TestHouse,
  maker: Person,
  said: string,
  texts: string[],
): Promise<Judged> {
  const rule = async (name: Decision, item: string, why: string): Promise<void> => {
    t.clock.turn(1)
    const made = await decide(t.ctx, name, { item, why, by: 'olga' })
    if (!made?.ok) throw new Error(`${name} ${item}: ${made?.text}`)
  }
  const ids: string[] = []
  for (const text of texts) {
    // What is taken down may not be published again, so that each page is another.
    const html = `<!doctype html><title>x</title>${escapeHtml(text)}`
    const id = await maker.publish({ html, title: text })
    for (const name of ['hold', 'takedown'] as const) {
      await rule(name, id, text)
      stored(await maker.call('POST', `/apps/${id}/appeal`, { text }))
      if (name === 'hold') await rule('decide', id, `grant ${text}`)
    }
    const comment = await maker.call('POST', `/explore/${said}/comments`, { text })
    await rule('hide', comment.text('comment.id'), text)
    await rule('block', sha256(text), text)
    for (const who of [`@${maker.handle}`, 'bea']) {
      await rule('suspend', who, text)
      await rule('unsuspend', who, '')
    }
    ids.push(id)
  }
  return {
    paths: ['queue', `agents/${maker.handle}`, 'people/bea', ...ids.map((id) => `apps/${id}`)].map(
      (page) => `/console/${page}`,
    ),
    async clear() {
      for (const id of ids) await rule('decide', id, 'deny It stays so.')
    },
  }
}

/** A text that was refused would prove nothing. */
export function stored({ status, body }: Answer): void {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
}
