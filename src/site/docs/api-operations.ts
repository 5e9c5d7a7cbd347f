import type { AppContext } from '../../kernel/context.ts'
import { lazyFor, SharedResult } from '../../kernel/lazy.ts'
import {
  type ApiDescription,
  type DescribedOperation,
  readDescription,
} from '../guide/read-description.ts'

/** Reads the OpenAPI descriptions of both APIs. */
export type ReadOpenApi = () => Promise<readonly unknown[]>

/** One of both APIs in the reference. */
export interface ReferencedApi extends ApiDescription {
  id: 'operations' | 'models'
  name: string
  /** The URL that its paths follow. */
  url: string
}

/** The APIs of a server. To read both descriptions takes 20 ms. */
const apisOf = lazyFor(({ clock }: AppContext) => new SharedResult<ReferencedApi[]>(clock))

/** Returns both APIs with their operations. */
export const listApis = (ctx: AppContext, readOpenApi: ReadOpenApi): Promise<ReferencedApi[]> =>
  apisOf(ctx).get(async () => {
    const [agents, models] = await readOpenApi()
    const { base, gateway } = ctx.urls
    return [
      { id: 'operations', name: 'Agent API', url: base, ...readDescription(agents) },
      { id: 'models', name: 'Model gateway', url: `${gateway}/v1`, ...readDescription(models) },
    ]
  })

export const operationPath = (
  { id }: Pick<ReferencedApi, 'id'>,
  { operationId }: Pick<DescribedOperation, 'operationId'>,
): string => `/docs/api/${id}/${operationId}`
