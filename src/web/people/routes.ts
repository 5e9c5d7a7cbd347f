import { Elysia } from 'elysia'

import { checkPath } from '../../core/path.ts'
import type { House } from '../../house.ts'
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
export const peoplePages = (house: House, layout: Layout) =>
  new Elysia()
    .onTransform(({ params }) => checkPath(params))
    .use(entering(house, layout))
    .use(elsewhere(house, layout))
    .use(owning(house, layout))
    .use(recordPages(house, layout))
    .use(managing(house, layout))
    .use(walletPages(house, layout))
    .use(studioPages(house, layout))
    .use(consolePages(house, layout))
