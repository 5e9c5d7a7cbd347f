import { type AttackRow, withServer } from './attack.ts'

const password = 'correct horse battery'

interface Page {
  cookie: string
  token: string
}

/** Ten wrong passwords from each network, and then the owner with the right one from another. */
export const run = (networks = 10): Promise<AttackRow> =>
  withServer(async ({ port }) => {
    const origin = `http://localhost:${port}`
    const open = async (path: string, address: string): Promise<Page> => {
      const headers = { 'x-forwarded-for': address }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      const token = /name="token"\s+value="([^"]+)"/.exec(await response.text())?.[1] ?? ''
      return { token, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
    }
    const send = async (path: string, address: string, page: Page, secret: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          origin,
          cookie: page.cookie,
          'x-forwarded-for': address,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ name: 'olga', password: secret, token: page.token }).toString(),
      })
      await response.bytes()
      return response.status
    }
    const home = '203.0.113.1'
    const created = await send('/sign-up', home, await open('/sign-up', home), password)
    if (created !== 200) throw new Error(`sign-up: ${created}`)
    let wrong = 0
    for (let net = 0; net < networks; net += 1) {
      const address = `198.18.${net}.7`
      const page = await open('/sign-in', address)
      const tries = Array.from({ length: 10 }, (_, at) =>
        send('/sign-in', address, page, `wrong password ${at}`),
      )
      wrong += (await Promise.all(tries)).filter((status) => status === 401).length
    }
    const fresh = '192.0.2.1'
    const status = await send('/sign-in', fresh, await open('/sign-in', fresh), password)
    return {
      name: `6. Sign-in: wrong passwords from ${networks} networks`,
      measured: `${wrong} wrong passwords; the right one from a fresh address: ${status}`,
      bound: 'the owner signs in (303)',
      isKept: status === 303,
      isLimited: status === 303,
    }
  })
