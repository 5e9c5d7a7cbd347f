import { forItem } from '../../site/forms.ts'
import type { Layout } from '../../site/layout.ts'
import { pageRoutes } from '../../site/session.ts'
import type { AppContext } from '../context.ts'
import { operatorForm, operatorPage } from './access.ts'
import { keyAccountPage, submitKeyAccount } from './key-account.ts'
import { keyPage, projectPage, submitKey, submitProject } from './key.ts'

/** The pages of the keys and the projects of an account. */
export const keyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/console/keys/:account', ({ input, params: { account } }) =>
      operatorPage(input, (req) => keyAccountPage(req, account)),
    )
    .post('/console/keys/:account', ({ input, params: { account } }) =>
      operatorForm(input, ...forItem(account, submitKeyAccount, keyAccountPage)),
    )
    .get('/console/keys/:account/:id', ({ input, params }) =>
      operatorPage(input, (req) => keyPage(req, params)),
    )
    .post('/console/keys/:account/:id', ({ input, params }) =>
      operatorForm(input, ...forItem(params, submitKey, keyPage)),
    )
    .get('/console/keys/:account/projects/:id', ({ input, params }) =>
      operatorPage(input, (req) => projectPage(req, params)),
    )
    .post('/console/keys/:account/projects/:id', ({ input, params }) =>
      operatorForm(input, ...forItem(params, submitProject, projectPage)),
    )
