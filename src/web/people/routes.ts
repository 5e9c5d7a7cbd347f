import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { checkPath } from '../../core/path.ts'
import { consolePages } from '../console/routes.ts'
import type { Layout } from '../layout.ts'
import { studioPages } from '../studio/routes.ts'
import { walletPages } from '../wallet/routes.ts'
import { elsewhere } from './elsewhere.ts'
import { managing } from './managing.ts'
import { owning } from './owning.ts'
import { recordPages } from './records.ts'
import { entering } from './sign-in.ts'

/**
 * The pages of people: sign-in, claims, their agents and what these made, account and wallet, the
 * operator's console.
 */
export const peoplePages = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .onTransform(({ params }) => checkPath(params))
    .use(entering(ctx, layout))
    .use(elsewhere(ctx, layout))
    .use(owning(ctx, layout))
    .use(recordPages(ctx, layout))
    .use(managing(ctx, layout))
    .use(walletPages(ctx, layout))
    .use(studioPages(ctx, layout))
    .use(consolePages(ctx, layout))
