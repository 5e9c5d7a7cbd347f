import fc from 'fast-check'
import { generate } from 'json-schema-faker'

import { isRecord, toText } from '../../kernel/schema.ts'
import type { DescribedOperation } from '../../site/guide/read-description.ts'
import { skillText } from '../fixtures/folders.ts'

/** A generated request for an operation. */
export interface GeneratedRequest {
  method: string
  path: string
  key: string | undefined
  headers: Record<string, string>
  body: unknown
}

/** Values that requests can name: the caller's own, those of another agent, and unknown ones. */
export interface KnownIds {
  key: string
  /** The personal key of an agent's owner, for People operations. */
  personal: string
  /** The session cookie of the owner, for operations that no key may call. */
  session?: string
  own: Record<string, string>
  other: Record<string, string>
  unknown: Record<string, string>
}

const pages = [
  '<!doctype html><title>Boats</title><p>hello</p>',
  '<!doctype html><title>\u202e</title><script>let a = 1</script>',
  '<!doctype html><title>In</title><form action="//evil.test"><input type=password></form>',
  '<!doctype html><meta http-equiv="refresh" content="0;url=https://elsewhere.test/">',
  '<script type="application/json" data-assets>[{"name":"a.png"},7]</script>',
  '<',
  '',
]

/** A black and a white pixel as PNG, in base64. */
export const twoPixels =
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABAQAAAADcWUInAAAACklEQVR42mNwAAAAQgBBhL+OYgAAAABJRU5ErkJggg=='

const files = [
  Uint8Array.fromBase64(twoPixels),
  '{"level":[1,2,3]}',
  '{"data":"data:application/json;base64,W10="}',
  '{"data":"data:;base64,!!!"}',
  'ID3 no sound',
  '',
]

const refs = ['monday-0001', 'tuesday-0001', 'a b', 'x'.repeat(200)]

/** All choices of a request. fast-check generates, replays and shrinks them. */
export const draws = fc.record({
  seed: fc.nat(),
  key: fc.constantFrom('own', 'own', 'own', 'own', 'own', 'own', 'none', 'bogus'),
  place: fc.constantFrom('own', 'own', 'own', 'own', 'other', 'unknown', 'odd'),
  query: fc.constantFrom('none', 'none', 'fine', 'odd'),
  body: fc.constantFrom('example', 'fine', 'picked', 'picked', 'mutated', 'mutated', 'odd', 'none'),
  /** One bit for each field of the body that stays. */
  keep: fc.nat(),
  file: fc.constantFrom(...files),
  page: fc.constantFrom(...pages),
  ref: fc.constantFrom(undefined, undefined, undefined, ...refs),
  odd: fc.jsonValue({ noUnicodeString: false }),
  text: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
})

export type Draw = typeof draws extends fc.Arbitrary<infer T> ? T : never

/** A draw with which every operation succeeds, and one without a key. */
export const golden: Draw = {
  seed: 1,
  key: 'own',
  place: 'own',
  query: 'fine',
  body: 'example',
  keep: 0,
  odd: null,
  file: '[]',
  page: '<p>hello</p>',
  ref: undefined,
  text: 'x',
}
export const keyless: Draw = { ...golden, key: 'none' }

/** The kind of id in the path, where it is not an existing app. */
const ids: Record<string, string> = {
  restore_app: 'gone',
  review_item: 'used',
  remove_review: 'used',
  answer_review: 'review',
  remove_comment: 'comment',
  pin_comment: 'received',
  get_job: 'ended',
  watch_job: 'ended',
  cancel_job: 'open',
  appeal: 'taken',
  delete_hook: 'hook',
  list_deliveries: 'hook',
  redeliver: 'hook',
  restore_skill: 'gone-skill',
  restore_framework: 'gone-framework',
  answer_run: 'reported',
  pay_share: 'due',
}

/** The kind of id below a path, where the operation has no other one. */
const resources: Record<string, string> = {
  skills: 'skill',
  frameworks: 'framework',
  packs: 'skill',
  runs: 'run',
  collections: 'collection',
}

/** Returns the kind of id in the path of an operation. */
export const idKindOf = ({ operationId, path }: DescribedOperation): string =>
  ids[operationId] ?? resources[path.split('/')[1] ?? ''] ?? 'id'

/** The kinds of values in the path of a People operation. */
const persons = { handle: 'owned', prefix: 'ownedKey' }

/** Those that differ, by operation. */
const personKinds: Record<string, Record<string, string>> = {
  end_session: { id: 'session' },
  revoke_connector: { id: 'connector' },
  get_profile: { handle: 'profile' },
  report_person: { handle: 'profile' },
  follow_maker: { handle: 'handle' },
  unfollow_maker: { handle: 'handle' },
  revoke_personal_key: { prefix: 'personalKey' },
  change_wallet_key: { prefix: 'walletKey' },
  revoke_wallet_key: { prefix: 'walletKey' },
}

/** Returns whether only a session may call an operation. */
const isOfSession = ({ security }: DescribedOperation): boolean =>
  security.length > 0 && security.every((way) => 'session' in way)

const isOfPeople = ({ security }: DescribedOperation): boolean =>
  security.some((way) => 'session' in way)

/** Returns the kind of value of a parameter in the path. */
function kindOf(operation: DescribedOperation, name: string): string {
  const own = personKinds[operation.operationId]?.[name]
  if (own !== undefined) return own
  if (name === 'id') return isOfPeople(operation) ? 'id' : idKindOf(operation)
  const kinds: Record<string, string> = isOfPeople(operation) ? persons : {}
  return kinds[name] ?? name
}

/** Returns the kinds of values in the path of an operation. */
export const pathKindsOf = (operation: DescribedOperation): string[] =>
  [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => kindOf(operation, name))

/** Returns the caller's own values for the path of an operation, by parameter. */
export const pathValuesOf = (
  operation: DescribedOperation,
  { own }: KnownIds,
): Record<string, string> =>
  Object.fromEntries(
    [...operation.path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) => {
      const value = own[kindOf(operation, name)]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** Returns the key with which a caller calls an operation. */
export const keyOf = (operation: DescribedOperation, { key, personal }: KnownIds): string =>
  isOfPeople(operation) ? personal : key

/** Generates the request of a draw. */
export async function generateRequest(
  operation: DescribedOperation,
  draw: Draw,
  known: KnownIds,
): Promise<GeneratedRequest> {
  const { method, parameters = [], requestBody } = operation
  const query = new URLSearchParams()
  for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
    const fine = known.own[name] ?? (name === 'cursor' ? '' : await generate(schema, draw))
    if (draw.query === 'fine' && fine !== '') query.set(name, String(fine))
    if (draw.query === 'odd') query.set(name, wellFormed(draw.text))
  }
  const isPersons = isOfPeople(operation)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    part(kindOf(operation, name), draw, known),
  )
  const own = isPersons ? known.personal : known.key
  const cookie = isOfSession(operation) && draw.key === 'own' ? known.session : undefined
  return {
    method,
    path: query.size > 0 ? `${path}?${query}` : path,
    key:
      cookie !== undefined
        ? undefined
        : draw.key === 'own'
          ? own
          : draw.key === 'none'
            ? undefined
            : 'bogus',
    headers: {
      ...(requestBody && { 'content-type': bodyTypeOf(requestBody.content) }),
      ...(draw.ref === undefined ? {} : { 'idempotency-key': draw.ref }),
      ...(cookie !== undefined && { cookie }),
    },
    body:
      requestBody &&
      encoded(await bodyOf(operation, requestBody.content, draw, known), requestBody.content),
  }
}

function part(name: string, draw: Draw, known: KnownIds): string {
  const odd = /^\.+$/.test(draw.text) ? 'x' : wellFormed(draw.text)
  const value = draw.place === 'odd' ? odd : known[place(draw)][name]
  return encodeURIComponent(value ?? odd)
}

const place = ({ place }: Draw) => (place === 'other' || place === 'unknown' ? place : 'own')

const wellFormed = (text: string): string => text.toWellFormed()

type Content = NonNullable<DescribedOperation['requestBody']>['content']

const formType = 'application/x-www-form-urlencoded'

const bodyTypeOf = (content: Content): string =>
  formType in content ? formType : 'application/json'

/** Returns the fields of a form in its encoding, and every other body as it is. */
const encoded = (body: unknown, content: Content): unknown =>
  formType in content && isRecord(body)
    ? `${new URLSearchParams(Object.entries(body).map(([name, value]): [string, string] => [name, toText(value)]))}`
    : body

async function bodyOf(
  operation: DescribedOperation,
  content: Content,
  draw: Draw,
  known: KnownIds,
): Promise<unknown> {
  if (draw.body === 'none') return undefined
  if ('application/octet-stream' in content) return draw.file
  if (draw.body === 'odd') return draw.seed % 2 ? JSON.stringify(draw.odd) : draw.text
  // json-schema-faker adds no optional property for minProperties.
  const { minProperties: _, ...schema } = content[bodyTypeOf(content)]?.schema ?? {}
  const { examples } = schema
  if (draw.body === 'example' && Array.isArray(examples)) {
    return { ...examples[0], ...named(operation, examples[0], draw, known) }
  }
  const optionalsProbability = draw.body === 'example' ? 0 : 0.7
  const fine = await generate(schema, { seed: draw.seed, optionalsProbability })
  if (!isRecord(fine)) throw new Error('The generated body is not an object.')
  const isOdd = draw.seed % 4 > 0
  const steered = {
    ...fine,
    ...named(operation, fine, draw, known),
    ...('html' in fine && { html: draw.page }),
    ...('skill' in fine && draw.seed % 3 === 0 && { skill: draw.page }),
    ...('image' in fine && { image: `data:image/png;base64,${isOdd ? draw.text : twoPixels}` }),
    ...('assets' in fine && { dryRun: true }),
  }
  if (draw.body === 'fine' || draw.body === 'example') return steered
  const kept = Object.entries(steered).filter((_, at) => (draw.keep >> at) & 1)
  // No runner works on jobs here, so assets are only priced.
  const picked = { ...Object.fromEntries(kept), ...('assets' in fine && { dryRun: true }) }
  return draw.body === 'picked' ? picked : mutated(picked, draw)
}

/** Returns the fields of a body that name something, with what exists. */
function named(operation: DescribedOperation, body: object, draw: Draw, known: KnownIds) {
  const values = known[place(draw)]
  const kind = idKindOf(operation)
  const isNew = !operation.path.includes('{')
  const fresh = `${operation.operationId.replaceAll('_', '-')}-${draw.seed}`
  return {
    ...('item' in body && { item: values['item'] }),
    ...('pack' in body && { pack: values['skill'] }),
    ...('code' in body && { code: values['code'] }),
    ...('skill' in body && {
      skill: skillText(isNew ? fresh : (known.own[`${kind}Name`] ?? fresh)),
    }),
  }
}

/** Replaces a field with another type, or adds a field. */
function mutated(body: Record<string, unknown>, { seed, odd, text }: Draw): unknown {
  const names = Object.keys(body)
  const name = names[seed % (names.length + 1)] ?? text
  return { ...body, [name]: odd }
}
