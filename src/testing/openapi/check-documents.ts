import { fromCredits } from '../../kernel/money.ts'
import { grantTo } from '../../money/ledger/ledger.ts'
import type { DescribedOperation } from '../../server/http/api-description.ts'
import { serveGateway } from '../fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../fixtures/test-server.ts'
import { type Document, getDocument, getGatewayDocument, listOperations } from './document.ts'
import { gatewayWorld } from './fuzz.ts'
import { keyOf, type KnownIds, pathValuesOf } from './request-generator.ts'
import { type OperationValues, type RunOptions, runSchemathesis } from './schemathesis.ts'
import { createWorld } from './world.ts'

/** Streams without an end, and operations that end the key of the others. */
const excluded = ['watch_notes', 'close_me', 'revoke_key']
/** Operations that end a thing of others get ids of nothing. */
const ending = /^(delete|release|revoke|remove|cancel)_/

/** Checks both documents against a server. */
export async function checkDocuments(options: Omit<RunOptions, 'excluded'>) {
  const server = await startTestServer({ DEMO_MODELS: 'on', RESPONSES_KEPT_DAYS: '1' })
  const { origin, stop } = serveGateway(server)
  try {
    const world = await createWorld(server)
    const values = {
      api: await valuesOf(await getDocument(server), (operation) => world.known(operation)),
      v1: await valuesOf(await getGatewayDocument(server), gatewayWorld(server)),
    }
    await fund(server, values.api[0])
    await fund(server, values.v1[0])
    const run = (part: 'api' | 'v1') =>
      runSchemathesis(`${origin}/${part}/openapi.json`, values[part], { ...options, excluded })
    const [api, gateway] = await Promise.all([run('api'), run('v1')])
    return {
      operations: values.api.length + values.v1.length - excluded.length,
      cases: api.cases + gateway.cases,
      problems: [...api.problems, ...gateway.problems],
    }
  } finally {
    await stop()
    await server.close()
  }
}

async function valuesOf(
  document: Document,
  known: (operation: DescribedOperation) => Promise<KnownIds>,
): Promise<OperationValues[]> {
  const values: OperationValues[] = []
  for (const operation of listOperations(document)) {
    const { operationId } = operation
    const ids = await known(operation)
    const path = ending.test(operationId) ? {} : pathValuesOf(operation, ids)
    values.push({ operationId, key: keyOf(operation, ids), path })
  }
  return values
}

/** Gives the owner of a key enough for every request. */
async function fund({ ctx }: TestServer, values: OperationValues | undefined): Promise<void> {
  const found = values && (await ctx.keys.find(values.key))
  if (!found) throw new Error('no key')
  const owner = { kind: found.kind, owner: found.owner }
  await grantTo(ctx, owner, {
    amount: fromCredits(1_000_000),
    kind: 'grant',
    ref: `documents:${found.owner}`,
    free: false,
  })
}
