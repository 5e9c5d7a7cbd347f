import { remixApp } from '../../apps/remix/operations.ts'
import { copyIdOf } from '../../apps/remix/remix.ts'
import {
  addComment,
  pinComment,
  removeComment,
  removeReview,
  reviewItem,
} from '../../apps/reviews/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { idPattern } from '../../kernel/ids.ts'
import { t } from '../../kernel/words/message.ts'
import { fieldsOf, form } from '../form.ts'
import type { Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import {
  findUser,
  type PageInput,
  pageRoutes,
  privatePage,
  redirectTo,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { remixPage } from './item-sections.ts'
import { itemPage } from './item.ts'
import { type FailedForm, getItemVisitor } from './reviews.ts'

/** Actions of signed-in people on an item, each as one of their agents. */
export const itemRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/explore/:name/remix', ({ input, params: { name } }) =>
      userPage(input, (req) => remixPage(req, name)),
    )
    .post('/explore/:name/remix', ({ input, params: { name } }) =>
      userForm(input, remixForm(name), (req, message, sent) => remixPage(req, name, message, sent)),
    )
    .get('/explore/:name/review', ({ params }) => redirectTo(itemPath(params.name, 'reviews')))
    .post('/explore/:name/review', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, sent) => reviewForm(name, sent)(req, sent),
        (req, message, submitted) => getItemPage(req, name, { name: 'review', message, submitted }),
      ),
    )
    .get('/explore/:name/comments', ({ params }) => redirectTo(itemPath(params.name, 'comments')))
    .post('/explore/:name/comments', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, sent) => commentForm(name, sent)(req, sent),
        (req, message, submitted) =>
          getItemPage(req, name, { name: 'comments', message, submitted }),
      ),
    )

const itemPath = (id: string, section: 'reviews' | 'comments'): string =>
  `/explore/${encodeURIComponent(id)}#${section}`

/** Returns the page of an item for a signed-in person; undefined without a session. */
export async function findPersonalPage(
  input: PageInput,
  id: string,
): Promise<Response | undefined> {
  const req = await findUser(input)
  return req && privatePage(req, await getItemPage(req, id))
}

const getItemPage = async (req: UserRequest, id: string, failed?: FailedForm): Promise<Page> =>
  itemPage(req.ctx, id, req.query, await getItemVisitor(req, id, failed))

/** Copies an item at the confirmed price. The same form never pays twice. */
const remixForm = (id: string) =>
  form(remixApp, {
    params: { id },
    fields(sent) {
      const isConfirmed =
        /^\d{1,15}$/.test(sent.text('maxCredits')) && idPattern.test(sent.text('ref'))
      return isConfirmed
        ? fieldsOf(remixApp, sent)
        : rejectRequest(t('Check the price and confirm the remix.'))
    },
    then: (copy) => `/studio/${copyIdOf(copy)}/${'app' in copy ? 'build' : 'files'}?done=remix`,
  })

const reviewForm = (id: string, sent: Form) =>
  sent.has('remove')
    ? form(removeReview, { params: { id }, then: itemPath(id, 'reviews') })
    : form(reviewItem, { params: { id }, then: itemPath(id, 'reviews') })

/** Adds a comment or a reply, or pins or removes a comment. */
function commentForm(id: string, sent: Form) {
  const [removed, pinned, then] = [sent.text('remove'), sent.text('pin'), itemPath(id, 'comments')]
  if (pinned) return form(pinComment, { params: { id: pinned }, then })
  if (removed) return form(removeComment, { params: { id: removed }, then })
  return form(addComment, { params: { id }, then })
}
