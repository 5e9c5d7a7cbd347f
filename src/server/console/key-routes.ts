import type { AppContext } from '../../kernel/context.ts'
import type { Layout } from '../../site/layout.ts'
import { pageRoutes } from '../../site/session.ts'
import { operatorForm, operatorPage } from './access.ts'
import { accountForm, keyAccountPage } from './key-account.ts'
import { keyForm, keyPage, projectForm, projectPage } from './key.ts'

/** The pages of the keys and the projects of an account. */
export const keyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/console/keys/:account', ({ input, params: { account } }) =>
      operatorPage(input, (req) => keyAccountPage(req, account)),
    )
    .post('/console/keys/:account', ({ input, params: { account } }) =>
      operatorForm(
        input,
        async (req, sent) => (await accountForm(req, account, sent))(req, sent),
        (req, message, sent) => keyAccountPage(req, account, message, sent),
      ),
    )
    .get('/console/keys/:account/:id', ({ input, params }) =>
      operatorPage(input, (req) => keyPage(req, params)),
    )
    .post('/console/keys/:account/:id', ({ input, params }) =>
      operatorForm(
        input,
        async (req, sent) => (await keyForm(req, params, sent))(req, sent),
        (req, message, sent) => keyPage(req, params, message, sent),
      ),
    )
    .get('/console/keys/:account/projects/:id', ({ input, params }) =>
      operatorPage(input, (req) => projectPage(req, params)),
    )
    .post('/console/keys/:account/projects/:id', ({ input, params }) =>
      operatorForm(
        input,
        async (req, sent) => (await projectForm(req, params, sent))(req, sent),
        (req, message, sent) => projectPage(req, params, message, sent),
      ),
    )
