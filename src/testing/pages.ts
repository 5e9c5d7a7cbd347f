import { operatorLink } from '../hosting/people/people.ts'
import { password } from './people.ts'
import type { Answer, Person, Sent, TestHouse } from './test-server.ts'

export const origin = 'http://localhost:3000'
export const formType = { 'content-type': 'application/x-www-form-urlencoded' }

/** A browser without scripts: it keeps cookies and sends forms as they stand in the page. */
export class Browser {
  private readonly jar = new Map<string, string>()

  constructor(
    private readonly h: TestHouse,
    private readonly from = '203.0.113.50',
  ) {}

  async open(path: string, sent: Sent = {}): Promise<Answer> {
    const headers = { accept: 'text/html', ...this.cookies(), ...sent.headers }
    return this.keep(await this.h.visit('GET', path, { from: this.from, ...sent, headers }))
  }

  /** Opens a page, fills its form for `action` in, and sends it. */
  async fill(
    path: string,
    action: string,
    values: Record<string, string>,
    more = {},
  ): Promise<Answer> {
    const page = String((await this.open(path)).body)
    const { token = '', next = '' } = hidden(page, action)
    return this.send(action, { token, next, ...values }, more)
  }

  async send(action: string, values: Record<string, string> | string, more = {}): Promise<Answer> {
    const body = typeof values === 'string' ? values : new URLSearchParams(values).toString()
    const headers = { ...formType, origin, ...this.cookies(), ...more }
    return this.keep(await this.h.visit('POST', action, { body, headers, from: this.from }))
  }

  cookie(name = 'berth'): string | undefined {
    return this.jar.get(name)
  }

  set(name: string, value: string): void {
    this.jar.set(name, value)
  }

  private cookies(): Record<string, string> {
    const cookie = [...this.jar].map((pair) => pair.join('=')).join('; ')
    return cookie ? { cookie } : {}
  }

  private keep(answer: Answer): Answer {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /Max-Age=0/.test(line)) this.jar.delete(name)
      else this.jar.set(name, value)
    }
    return answer
  }
}

/** The hidden fields of the form with this action. */
export function hidden(page: string, action: string): Record<string, string> {
  const form = page.split('<form').find((one) => one.includes(`action="${action}"`)) ?? ''
  const fields = form.matchAll(/<input\s+type="hidden"\s+name="(\w+)"\s+value="([^"]*)"/g)
  return Object.fromEntries(
    [...fields].map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]),
  )
}

export const said = (answer: Answer): string =>
  /role="alert">([^<]*)</.exec(String(answer.body))?.[1]?.trim() ?? ''

/** A browser in which a new person is signed in. */
export async function signedUp(h: TestHouse, name: string, from?: string): Promise<Browser> {
  const browser = new Browser(h, from)
  const made = await browser.fill('/sign-up', '/sign-up', { name, password })
  if (made.status !== 200) throw new Error(`no account: ${made.status}`)
  return browser
}

/** Makes who is signed in the owner of an agent, by its claim link. */
export async function claimedBy(browser: Browser, agent: Person): Promise<void> {
  const code = (await agent.call('POST', '/me/claim')).text('claim.code')
  await browser.fill(`/claim/${code}`, `/claim/${code}`, {})
}

/** A browser in which the operator is signed in, by the one-time link. */
export async function operating(h: TestHouse, name = 'olga', from?: string): Promise<Browser> {
  const link = new URL((await operatorLink(h.ctx)) ?? '').pathname
  const browser = new Browser(h, from)
  const made = await browser.fill(link, link, { name, password })
  if (made.status !== 200) throw new Error(`no operator: ${made.status}`)
  return browser
}
