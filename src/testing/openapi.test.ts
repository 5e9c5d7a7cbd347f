import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Validator } from '@seriousme/openapi-schema-validator'

import { isRecord } from '../kernel/schema.ts'
import { createRouter } from '../server/http/router.ts'
import type { DescribedOperation } from '../site/guide/read-description.ts'
import { startTestServer } from './fixtures/test-server.ts'
import { getDocument, getGatewayDocument, listOperations } from './openapi/document.ts'

const base = 'https://berth.test/api'
const open = [
  'is_on',
  'start',
  'get_openapi',
  'new_agent',
  'look_at_asset',
  'explore',
  'list_shelves',
  'get_atom_feed',
  'get_json_feed',
  'get_item',
  'get_family',
  'get_log',
  'get_maker',
  'get_profile',
  'get_collection',
  'list_libraries',
  'get_library_license',
  'get_source',
  'play_app',
  'report_item',
  'report_person',
  'get_skill',
  'read_skill',
  'read_skill_file',
  'get_framework',
  'read_framework',
  'read_framework_file',
  'list_reviews',
  'list_comments',
  'get_claim',
  'sign_in',
  'sign_in_with_passkey',
  'sign_up',
  'recover_account',
  'authorize_device',
  'get_device_token',
  'register_client',
  'get_oauth_token',
  'revoke_oauth_token',
  'get_run',
  'get_record',
  'list_pack_runs',
  'get_app_ai',
  'get_player',
  'join_app',
  'list_values',
  'get_value',
  'set_value',
  'delete_value',
  'get_document',
  'query_documents',
  'add_document',
  'set_document',
  'update_document',
  'delete_document',
  'acquire_document',
  'write_documents',
  'report_errors',
  'get_own_cover',
  'open_live',
  'get_scores',
  'submit_score',
  'upload_file',
  'create_challenge',
  'get_challenge',
  'list_challenges',
  'open_app',
]

const t = await startTestServer({ BASE_URL: base })
const document = await getDocument(t)
const operations = listOperations(document)
afterAll(() => t.close())

/** The ways to identify the callers of an area, where it is not an agent's key. */
const waysOf: Record<string, Record<string, unknown>[]> = {
  People: [{ key: [] }, { session: [] }],
  'Sign-in': [{ session: [] }],
  Operator: [{ session: [] }],
  Playing: [{ session: [] }],
}

/** Returns every object anywhere in a value. */
function nodesIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  return isRecord(value) ? [value, ...Object.values(value).flatMap(nodesIn)] : []
}

/** Lints a document with `redocly lint` offline. Returns the exit code and output. */
async function redocly(given: unknown): Promise<[number, string]> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-openapi-'))
  const file = join(folder, 'openapi.json')
  try {
    await Bun.write(file, JSON.stringify(given))
    const cli = join(import.meta.dir, '../../node_modules/@redocly/cli/bin/cli.js')
    const config = join(import.meta.dir, 'redocly.yaml')
    const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const words = [process.execPath, '--bun', cli, 'lint', file, '--config', config]
    const { exitCode, stdout, stderr } = Bun.spawnSync(words, { env: { ...Bun.env, ...quiet } })
    return [exitCode, `${stdout}${stderr}`]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const withoutIds = (): unknown => {
  const copy = structuredClone(document)
  for (const operation of Object.values(copy.paths['/me'] ?? {})) operation.operationId = 'get_me'
  return copy
}

describe('the document', () => {
  test('is valid against the OpenAPI 3.1.0 schema', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ title: 'Berth Agent API', version: '1.0.0' })
  })

  test('has the errors of every write: a body that is too large, a full disk', async () => {
    const without = (status: string, all: DescribedOperation[]) =>
      all.flatMap(({ method, responses, operationId }) =>
        method === 'GET' || status in responses ? [] : [operationId],
      )
    expect(without('503', operations)).toEqual([])
    // The server also reads a body that an operation does not declare.
    const gateway = listOperations(await getGatewayDocument(t))
    expect(without('413', [...operations, ...gateway])).toEqual([])
  })

  test('passes redocly, which reports a seeded error', async () => {
    const [code, words] = await redocly(document)
    expect(words).toContain('valid')
    expect(code).toBe(0)
    const [seeded, output] = await redocly(withoutIds())
    expect(seeded).not.toBe(0)
    expect(output).toContain('operation-operationId-unique')
  }, 120_000)

  test('resolves every reference, as the one of the gateway does', async () => {
    for (const one of [document, await getGatewayDocument(t)]) {
      const found = nodesIn(one).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))
      const broken = found.filter((path) => {
        const keys = path.replace(/^#\//, '').split('/')
        return !isRecord(keys.reduce<unknown>((at, key) => isRecord(at) && at[key], one))
      })
      expect(broken).toEqual([])
      expect(found.length).toBeGreaterThan(20)
    }
  })

  test('fails validation when a response has no description', async () => {
    const copy: unknown = JSON.parse(
      JSON.stringify(document).replace('"description":"OK."', '"a":1'),
    )
    if (!isRecord(copy)) throw new Error('no document')
    expect((await new Validator().validate(copy)).valid).toBe(false)
  })

  test('has exactly the routes of the live app', async () => {
    const { agentApi } = await createRouter(t.ctx).load()
    const live = agentApi.routes
      .filter(({ path, hooks }) => path.startsWith('/api') && !hooks.detail?.hide)
      .map(({ method, path }) => {
        const own = path
          .slice('/api'.length)
          .replace(/:(\w+)/g, '{$1}')
          .replace('*', '{path}')
        return `${method} ${own.replace(/(.)\/$/, '$1')}`
      })
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(live.sort())
    expect(live).toContain('GET /')
  })

  test('is relative to base_url', () => {
    expect(document.servers).toEqual([{ url: base }])
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/api'))).toEqual([])
  })

  test('uses only keywords of OpenAPI 3.1', () => {
    for (const node of nodesIn(document)) {
      expect(node).not.toHaveProperty('$id')
      expect(node).not.toHaveProperty('nullable')
    }
  })

  test('names each record once', () => {
    const named = ['App', 'Agent', 'Asset', 'Version', 'Job', 'Key', 'Claim', 'Scan', 'Finding']
    named.push(
      'Item',
      'FamilyItem',
      'Ancestor',
      'LogEntry',
      'Maker',
      'Purchase',
      'Review',
      'Comment',
      'Note',
    )
    named.push('Cover', 'Screenshot', 'Skill', 'Framework', 'Step', 'Share')
    named.push('Run', 'RunStep', 'Evidence', 'Record')
    named.push('Collection', 'Library', 'FileDiff', 'AppError', 'Audience')
    named.push('ShareLink')
    named.push('AgentKey', 'OwnedAgent', 'Person', 'Profile', 'Hook', 'Delivery')
    named.push('AccountKey', 'Invoice', 'Project')
    named.push('Player', 'Document', 'DataRecord', 'Score', 'Challenge')
    named.push('AppAi', 'Consent', 'Sponsor')
    expect(Object.keys(document.components.schemas).sort()).toEqual(named.sort())
  })

  test('can be cached until it changes', async () => {
    const first = await t.call('GET', '/openapi.json')
    const etag = first.headers.get('etag') ?? ''
    const again = await t.call('GET', '/openapi.json', { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    expect(again.bytes).toHaveLength(0)
  })
})

describe('every operation', () => {
  test('has an operation id, a tag and a summary in both APIs', async () => {
    for (const api of [document, await getGatewayDocument(t)]) {
      const described = listOperations(api)
      const ids = described.map(({ operationId }) => operationId)
      expect(new Set(ids).size).toBe(ids.length)
      const areas = api.tags.map(({ name }) => name)
      for (const { operationId, tags, summary } of described) {
        expect(operationId).toMatch(/^[a-z]+(_[a-z]+)*$/)
        expect(areas).toEqual(expect.arrayContaining(tags))
        expect(tags).toHaveLength(1)
        expect(summary).toMatch(/^.{6,80}[.]$/)
      }
    }
  })

  test('declares its authentication', () => {
    expect(document.components.securitySchemes).toMatchObject({
      key: { type: 'http', scheme: 'bearer' },
    })
    for (const { operationId, tags, security, responses } of operations) {
      const isOpen = open.includes(operationId)
      const ways = waysOf[tags[0] ?? ''] ?? [{ key: [] }]
      expect([operationId, security]).toEqual([operationId, isOpen ? [] : ways])
      if (!isOpen) expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403']))
    }
  })

  test('has typed responses for each status, and one for each error', () => {
    const text = [expect.anything(), { schema: { type: 'string' } }]
    for (const { operationId, responses } of operations) {
      for (const [status, { content, description }] of Object.entries(responses)) {
        expect(description).not.toBe('')
        const isError = Number(status) >= 400
        const isEmpty = /^(101|204|304|416)$/.test(status)
        const types = Object.keys(content)
        const isCounted = isError ? types.length === 1 : types.length > 0
        expect([operationId, status, isEmpty ? types.length === 0 : isCounted]).toEqual([
          operationId,
          status,
          true,
        ])
        for (const [type, media] of Object.entries(content)) {
          expect(Object.keys(media.schema)).not.toEqual([])
          // A generated client parses it whatever the schema is.
          if (type.endsWith('json')) expect([operationId, media]).not.toMatchObject(text)
          if (!isError) continue
          expect(media.schema).toMatchObject({
            required: ['error', 'code'],
            properties: { error: { type: 'string' }, code: { type: 'string' } },
          })
          expect(description).not.toBe('Error.')
        }
      }
    }
  })

  test('has bodies without additional fields', () => {
    for (const { operationId, requestBody } of operations) {
      for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
        const takesFolder = /^publish_(app|version|skill|framework)/.test(operationId)
        if (type === 'application/zip') expect(takesFolder).toBe(true)
        else if (type === 'application/x-www-form-urlencoded')
          expect(operationId).toMatch(/device|oauth/)
        else if (type !== 'application/json') expect(operationId).toBe('put_asset')
        // Programs send the fields of other specifications, which RFC 7591 lets a server ignore.
        else if (operationId !== 'register_client')
          expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
      }
    }
    const required = operations.flatMap(({ operationId, requestBody }) =>
      requestBody?.required === false ? [operationId] : [],
    )
    expect(required).toEqual([
      'new_agent',
      'add_key',
      'create_owned_agent',
      'add_agent_key',
      'add_wallet_key',
      'add_personal_key',
      'remix_app',
      'pay_share',
    ])
  })

  test('types its parameters', () => {
    for (const { path, parameters = [] } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      const described = parameters.filter((parameter) => parameter.in === 'path')
      expect(described.map(({ name }) => name).sort()).toEqual(inPath.sort())
      for (const { name, schema } of parameters) {
        expect(schema['type']).toBeString()
        if (name === 'id') expect(schema['pattern']).toBe('^[A-Za-z0-9_-]{12}$')
      }
    }
  })
})

/** Lists the paths of schemas that some generators of clients do not read. */
function unreadableIn(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one, at) => unreadableIn(one, `${path}/${at}`))
  if (!isRecord(schema)) return []
  const isUntyped = typeof schema.pattern === 'string' && schema.type === undefined
  const isNull = schema.type === 'null' && /\/properties\/\w+$/.test(path)
  const inner = Object.entries(schema).flatMap(([key, one]) => unreadableIn(one, `${path}/${key}`))
  return isUntyped || isNull ? [path, ...inner] : inner
}

test('each pattern has a type, and no field is only null, as openapi-generator needs it', async () => {
  expect(unreadableIn(document, '')).toEqual([])
  expect(unreadableIn(await getGatewayDocument(t), '')).toEqual([])
})

test('agents_off hides the document', async () => {
  const closed = await startTestServer({ AGENTS_ON: 'off' })
  const response = await closed.call('GET', '/openapi.json')
  expect([response.status, response.code]).toEqual([404, 'agents_off'])
  await closed.close()
})
