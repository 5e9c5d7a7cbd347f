/** Pages of errors, each as a browser gets it. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { claimTriesPerHour } from '../../src/kernel/limits.ts'
import type { BerthServer } from '../bench/load/served.ts'
import type { Target } from './take.ts'

/** Sends a form without its token, as an expired page does. */
const sendStaleForm: Target = async (page, origin) => {
  await page.route('**/sign-in', (route) => {
    const headers = {
      ...route.request().headers(),
      'content-type': 'application/x-www-form-urlencoded',
    }
    return route.continue({ method: 'POST', postData: 'name=olga', headers })
  })
  await page.goto(`${origin}/sign-in`)
}

/** Tries wrong claim codes until an address is locked, which no other page comes from. */
const tryClaimCodes: Target = async (page, origin) => {
  const path = `${origin}/claim/BBBB-BBBB-BBBB`
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  for (let tries = 0; tries < claimTriesPerHour; tries += 1) await fetch(path, { headers })
  await page.setExtraHTTPHeaders(headers)
  await page.goto(path)
}

/** Each status once. `down` is an item that was taken down. */
export const errorPages = (down: string): Record<string, Target> => ({
  'error-400': '/explore?cursor=odd',
  'error-403': sendStaleForm,
  'error-404': '/nowhere',
  'error-410': `/report/${down}`,
  'error-429': tryClaimCodes,
})

/** Pages of errors with the header of a person. */
export const ownErrorPages = (down: string): Record<string, Target> => ({
  'error-own-404': '/studio/AAAAAAAAAAAA',
  'error-own-410': `/report/${down}`,
})

/** Takes the collections from a server, whose page of them then fails. */
export function breakCollections({ dataDir }: BerthServer): void {
  const db = new Database(join(dataDir, 'berth.sqlite'))
  db.run('alter table collections rename to lost_collections')
  db.close()
}
