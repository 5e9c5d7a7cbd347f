import { newId, sha256, sign } from '../kernel/ids.ts'
import { deviceSlotsPerPerson, devicesPerBrowserMax } from '../kernel/limits.ts'
import type { AppContext } from '../server/context.ts'
import type { Person } from './people.ts'

/** A device id and its signature. */
const entryPattern = /^([A-Za-z0-9]{12})([\w-]{43})$/

/** The pattern of the device cookie: one entry for each person who signed in on this browser. */
export const devicesPattern = `[\\w-]{55}(?:\\.[\\w-]{55}){0,${devicesPerBrowserMax - 1}}`

/** Signs a device for a person. A new password makes the signature invalid. */
const signatureOf = (ctx: AppContext, { id, password }: Person, device: string): string =>
  sign(ctx.secret, `device ${device} ${id} ${password ?? ''}`)

/** Returns the id of the device on which a person has signed in before. */
function findDevice(ctx: AppContext, person: Person, cookie: string): string | undefined {
  const entries = cookie.split('.').slice(0, devicesPerBrowserMax)
  for (const entry of entries) {
    const [, device = '', signature = ''] = entryPattern.exec(entry) ?? []
    if (sha256(signature) === sha256(signatureOf(ctx, person, device))) return device
  }
  return undefined
}

/**
 * Returns the number of a person's device for limits, from 0 to 19; undefined for an unknown
 * device. Devices share these numbers, so that any number of them allows a bounded number of
 * wrong passwords.
 */
export function deviceSlot(ctx: AppContext, person: Person, cookie: string): number | undefined {
  const device = findDevice(ctx, person, cookie)
  return device === undefined
    ? undefined
    : Number.parseInt(sha256(device).slice(0, 8), 16) % deviceSlotsPerPerson
}

/** Returns the device cookie of a browser after a person has signed in. */
export function rememberDevice(ctx: AppContext, person: Person, cookie: string): string {
  if (findDevice(ctx, person, cookie) !== undefined) return cookie
  const device = newId()
  const others = cookie.split('.').filter((entry) => entryPattern.test(entry))
  return [device + signatureOf(ctx, person, device), ...others]
    .slice(0, devicesPerBrowserMax)
    .join('.')
}
