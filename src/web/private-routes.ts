import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { checkPath } from '../core/path.ts'
import { accountRoutes } from './account/routes.ts'
import { agentHistoryRoutes } from './agents/history.ts'
import { agentRoutes } from './agents/routes.ts'
import { consoleRoutes } from './console/routes.ts'
import type { Layout } from './layout.ts'
import { providerRoutes } from './sign-in/provider.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { studioRoutes } from './studio/routes.ts'
import { walletRoutes } from './wallet/routes.ts'

/**
 * The pages of people: sign-in, claims, their agents and what these made, account and wallet, the
 * operator's console.
 */
export const privateRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .onTransform(({ params }) => checkPath(params))
    .use(signInRoutes(ctx, layout))
    .use(providerRoutes(ctx, layout))
    .use(agentRoutes(ctx, layout))
    .use(agentHistoryRoutes(ctx, layout))
    .use(accountRoutes(ctx, layout))
    .use(walletRoutes(ctx, layout))
    .use(studioRoutes(ctx, layout))
    .use(consoleRoutes(ctx, layout))
