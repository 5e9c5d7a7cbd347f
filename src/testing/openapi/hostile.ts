/** Variations of a valid request that a careless server answers with an internal error. */
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import type { DescribedOperation } from '../../site/guide/read-description.ts'
import { post } from '../fixtures/mcp-server.ts'
import type { TestServer } from '../fixtures/test-server.ts'
import { isThorough } from '../thorough.ts'
import type { GeneratedRequest } from './request-generator.ts'

/** Names that every object has, or that change it. */
export const ownedNames = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

const noMethods = '{"toString":1,"valueOf":1}'
const nested = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + close.repeat(depth)

/** JSON values, as text. */
const values = [
  ...ownedNames.map((name) => JSON.stringify(name)),
  noMethods,
  `[${noMethods}]`,
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{}}}',
  '{"length":1,"0":"x"}',
  'null',
  'true',
  '{}',
  '[]',
  '[[]]',
  '""',
  '"x"',
  '0',
  '-0',
  '1e999',
  '-1e999',
  '1e-400',
  '0.1',
  '9007199254740993',
  '9'.repeat(4_000),
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\u0000"',
  '"\\ufeff\\u202e\\uffff"',
  nested(60, '[', ']'),
  nested(60, '{"a":', '}').replace('}', '1}'),
]
const large = [JSON.stringify('x'.repeat(1_048_576)), `[${'0,'.repeat(50_000)}0]`]
const valuesOfLeaf = 2
const placesMax = 12

/** Fields whose text is looked up. They get every owned name. */
const looksUp = /^(model|models|voice|format|kind|sort|role|type|reason|method|currency|endpoint)$/

/** Bodies that are no valid object. */
const bodies = [
  '',
  ' ',
  '[]',
  '{}',
  'null',
  '"x"',
  '1e999',
  '\ufeff{}',
  '{"a":1}\0',
  '{"__proto__":',
  nested(10_000, '[', ']'),
  nested(10_000, '{"a":', '}'),
  `[${'0,'.repeat(100_001)}0]`,
]

type Path = (string | number)[]

/** Lists the places of a JSON value below its root: of its leaves, and of its objects. */
function placesOf(value: unknown, at: Path = []): { leaves: Path[]; objects: Path[] } {
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(recordOf(value))
  const found = inner.map(([step, one]) => placesOf(one, [...at, step]))
  return {
    leaves: inner.length > 0 || at.length === 0 ? found.flatMap(({ leaves }) => leaves) : [at],
    objects: [...(isRecord(value) ? [at] : []), ...found.flatMap(({ objects }) => objects)],
  }
}

/** Returns a value as JSON with `raw` at a place, which may be a new field. */
function render(value: unknown, [step, ...rest]: Path, raw: string): string {
  if (step === undefined) return raw
  const next = (name: string | number, one: unknown): string =>
    name === step ? render(one, rest, raw) : JSON.stringify(one)
  if (Array.isArray(value)) return `[${value.map((one, at) => next(at, one)).join()}]`
  const fields = Object.entries(recordOf(value))
  const texts = fields.map(([name, one]) => `${JSON.stringify(name)}:${next(name, one)}`)
  const isNew = !fields.some(([name]) => name === step)
  return `{${[...texts, ...(isNew ? [`${JSON.stringify(step)}:${raw}`] : [])].join()}}`
}

/** Returns hostile bodies in place of a valid one. `turn` selects among the values of a leaf. */
function varyBody(body: unknown, turn: number): string[] {
  const { leaves, objects } = placesOf(body)
  const fields = objects
    .slice(0, placesMax)
    .flatMap((at, place) =>
      ownedNames.map((name, number) =>
        render(body, [...at, name], values[(turn + place + number) % values.length] ?? ''),
      ),
    )
  const replaced = leaves.slice(0, placesMax).flatMap((at, place) => {
    const own = Array.from(
      { length: valuesOfLeaf },
      (_, number) => values[(turn + place * valuesOfLeaf + number) % values.length] ?? '',
    )
    const isName = looksUp.test(String(at.findLast((step) => typeof step === 'string')))
    const more = isName ? values.slice(0, ownedNames.length) : []
    return [noMethods, ...own, ...more].map((raw) => render(body, at, raw))
  })
  const [first, ...others] = leaves
  const huge = large.map((raw, number) => render(body, others[number] ?? first ?? ['a'], raw))
  const twice = JSON.stringify(body).replace(/\}$/, `,${JSON.stringify(body).slice(1)}`)
  return [...fields, ...replaced, ...huge, twice, `\ufeff${JSON.stringify(body)}`, ...bodies]
}

const texts = [...ownedNames, '\0', '\ufffd', '1e999', '-0', 'x'.repeat(4_000)]

/** Returns hostile variations of a request: its path, query, headers and body. */
export function varyRequest(
  made: GeneratedRequest,
  { path, parameters = [], requestBody }: DescribedOperation,
  turn: number,
): GeneratedRequest[] {
  const [own = '', query = ''] = made.path.split('?')
  const steps = own.split('/')
  const paths = path
    .split('/')
    .flatMap((step, at) =>
      step.startsWith('{')
        ? texts.map((text) => `${steps.with(at, encodeURIComponent(text)).join('/')}?${query}`)
        : [],
    )
  const named = parameters.filter((parameter) => parameter.in === 'query')
  const queries = [
    ...named.flatMap(({ name }) => texts.map((text) => new URLSearchParams({ [name]: text }))),
    new URLSearchParams(ownedNames.map((name): [string, string] => [name, name])),
  ].map((one) => `${own}?${one}`)
  const name = ownedNames[turn % ownedNames.length] ?? ''
  const headers = [
    { authorization: `Bearer ${name}` },
    { 'idempotency-key': name, accept: name, 'accept-language': name, 'x-api-key': name },
    { 'content-type': name, 'payment-signature': name, range: name },
    { 'idempotency-key': '\u00ff', 'user-agent': '\u00ff', cookie: `berth=${name}` },
  ]
  const isJson = requestBody?.content['application/json'] !== undefined
  return [
    ...[...paths, ...queries].map((one) => ({ ...made, path: one })),
    ...headers.map((more) => ({ ...made, headers: { ...made.headers, ...more } })),
    ...(isJson ? varyBody(made.body, turn).map((body) => ({ ...made, body })) : []),
  ]
}

/** Every so many variations of the arguments are sent. The operation itself gets more of them. */
const step = isThorough ? 4 : 36

/** Calls a tool with hostile variations of its arguments. Returns the problems of the results. */
export async function callHostile(
  server: TestServer,
  name: string,
  args: Json,
  turn: number,
): Promise<string[]> {
  const problems: string[] = []
  const texts = varyBody(args, turn).filter((text, at) => at % step === turn % step && text !== '')
  for (const text of texts) {
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${text}}}`
    const { status, message } = await post(server, call)
    const { error, result } = recordOf(message)
    const isResult = Array.isArray(recordOf(result)['content'])
    const isError = [-32_602, -32_600, -32_700].includes(Number(recordOf(error)['code']))
    const { code } = recordOf(recordOf(result)['structuredContent'])
    if (status < 500 && (isResult || isError) && code !== 'internal') continue
    problems.push(`${status} ${JSON.stringify(message)}\n${call.slice(0, 2_000)}`)
  }
  return problems
}
