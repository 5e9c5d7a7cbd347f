import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { enterBy } from '../../hosting/people/passkeys.ts'
import {
  becomeOperator,
  checkFirst,
  nameOf as nameIn,
  shownName,
} from '../../hosting/people/people.ts'
import { recover, signIn, signUp } from '../../hosting/people/sign-in.ts'
import type { Layout, Page } from '../layout.ts'
import { queryOf } from '../parts.ts'
import {
  fromOf,
  goTo,
  type Incoming,
  nextOf,
  sessionCookie,
  shown,
  takeForm,
  type Visit,
  visitFor,
} from './desk.ts'
import {
  codesPage,
  codesShown,
  type Entry,
  proxyPage,
  recoverPage,
  signInPage,
  signUpPage,
  welcomePage,
} from './enter.ts'
import type { Form } from './form.ts'
import { waysIn, wayUp } from './ways.ts'

/** Where people come in, and go out. */
export const entering = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/sign-in', ({ request }) => asked({ ctx, layout, request }, inPage))
    .get('/sign-up', ({ request }) => asked({ ctx, layout, request }, upPage))
    .get('/recover', ({ request }) => asked({ ctx, layout, request }, backPage))
    .post(
      '/sign-in',
      ({ request }) =>
        sent({ ctx, layout, request }, inPage, async (visit, form) => {
          const said = { name: form.text('name'), password: form.text('password') }
          const { secret } = await signIn(ctx, said, fromOf(visit))
          return goTo(nextOf(form.text('next')), sessionCookie(visit, secret))
        }),
      { parse: 'none' },
    )
    .post(
      '/sign-in/passkey',
      ({ request }) =>
        sent({ ctx, layout, request }, inPage, async (visit, form) => {
          const by = { holder: visit.token, from: fromOf(visit) }
          const { secret } = await enterBy(ctx, form.text('answer'), by)
          return goTo(nextOf(form.text('next')), sessionCookie(visit, secret))
        }),
      { parse: 'none' },
    )
    .post(
      '/sign-up',
      ({ request }) =>
        sent({ ctx, layout, request }, upPage, (visit, form) =>
          signedUp(visit, form, undefined, nextOf(form.text('next'))),
        ),
      { parse: 'none' },
    )
    .post(
      '/recover',
      ({ request }) =>
        sent({ ctx, layout, request }, backPage, async (visit, form) => {
          const [name, code] = [form.text('name'), form.text('code')]
          const said = { name, code, password: form.text('password') }
          const { secret } = await recover(ctx, said, fromOf(visit))
          return goTo(nextOf(form.text('next')), sessionCookie(visit, secret))
        }),
      { parse: 'none' },
    )
    .use(welcoming(ctx, layout))

/** The one-time link that is printed when a new place starts. */
const welcoming = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/welcome/:code', async ({ request, params: { code } }) => {
      const visit = await visitFor({ ctx, layout, request })
      await checkFirst(ctx, ctx.db.read, code)
      return shown(visit, firstPage(entryOf(visit), visit, code))
    })
    .post(
      '/welcome/:code',
      async ({ request, params: { code } }) => {
        const visit = await visitFor({ ctx, layout, request })
        if (visit.visitor?.person.operator) return goTo(codesShown)
        await checkFirst(ctx, ctx.db.read, code)
        if (isUnknown(visit)) return shown(visit, { ...proxyPage, status: 403 })
        return takeForm(
          visit,
          (_, form) => welcomed(visit, form, code),
          (_, said, form) =>
            firstPage({ ...entryOf(visit), said, name: form.text('name') }, visit, code),
        )
      },
      { parse: 'none' },
    )

/** An operator made here would be one whom the proxy may never name, and the link used up. */
const isUnknown = ({ ctx, visitor }: Visit): boolean =>
  ctx.config.personHeader !== '' && visitor === undefined

/** Who comes by the provider comes back here, and is asked then. */
const firstPage = (entry: Entry, visit: Visit, code: string): Page =>
  isUnknown(visit)
    ? proxyPage
    : welcomePage({ ...entry, ways: wayUp(visit, `/welcome/${code}`) }, code, nameOf(visit))

async function welcomed(visit: Visit, form: Form, code: string): Promise<Response> {
  if (!visit.visitor) return signedUp(visit, form, code, '/account')
  await becomeOperator(visit.ctx, visit.visitor.person, code)
  return goTo('/account')
}

const nameOf = ({ visitor }: Visit): string | undefined => visitor && shownName(visitor.person)

const entryOf = ({ request, token }: Visit): Entry => ({
  token,
  next: nextOf(queryOf(request).get('next')),
})

type Draw = (entry: Entry, visit: Visit) => Page

const inPage: Draw = (entry, visit) => signInPage({ ...entry, ways: waysIn(visit, entry.next) })
const upPage: Draw = (entry, visit) => signUpPage({ ...entry, ways: wayUp(visit, entry.next) })
const backPage: Draw = (entry) => recoverPage(entry)

/** A page of sign-in; who is signed in already goes on, but to sign in again. */
async function asked(incoming: Incoming, draw: Draw): Promise<Response> {
  const visit = await visitFor(incoming)
  const entry = entryOf(visit)
  const isAgain = queryOf(visit.request).has('again')
  if (visit.visitor && !isAgain) return goTo(entry.next)
  return shown(visit, visit.ctx.config.personHeader ? proxyPage : draw(entry, visit))
}

/** What such a page sent; refused, it is shown again, with all that is no password. */
async function sent(
  incoming: Incoming,
  draw: Draw,
  work: (visit: Visit, form: Form) => Promise<Response>,
): Promise<Response> {
  const visit = await visitFor(incoming)
  if (visit.ctx.config.personHeader) return shown(visit, { ...proxyPage, status: 403 })
  const again = (_: Visit, said: string, form: Form): Page => {
    const [next, name, code] = [nextOf(form.text('next')), form.text('name'), form.text('code')]
    return draw({ token: visit.token, next, name, code, said }, visit)
  }
  const instead = (form: Form): string | undefined => leadsTo(visit, draw, form)
  return takeForm(visit, work, again, { instead })
}

/** Where who has signed in meanwhile goes on who sends a form once more, or in a second tab. */
function leadsTo({ visitor }: Visit, draw: Draw, form: Form): string | undefined {
  if (!visitor) return undefined
  if (draw === upPage) return codesShown
  const isSame = nameIn(form.text('name')) === visitor.person.name
  return isSame && draw === inPage ? nextOf(form.text('next')) : undefined
}

/** A new account, and its recovery codes before anything else. */
async function signedUp(
  visit: Visit,
  form: Form,
  code: string | undefined,
  next: string,
): Promise<Response> {
  visit.ctx.storage.checkRoom(0)
  const joining = { name: form.text('name'), password: form.text('password'), code }
  const { secret, codes } = await signUp(visit.ctx, joining, fromOf(visit))
  return shown(visit, codesPage(codes, next), sessionCookie(visit, secret))
}
