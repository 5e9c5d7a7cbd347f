import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { isRecord, itemsOf, parseRecord, recordOf } from '../../kernel/schema.ts'
import { isOutsideSchema, mayViolate } from './outside-schema.ts'

/** Values of a request to one operation: its key, and what exists for the names of its path. */
export interface OperationValues {
  operationId: string
  key: string
  path: Record<string, string>
}

/** The result of a run of Schemathesis. */
export interface SchemathesisReport {
  /** Requests whose response was checked. */
  cases: number
  problems: string[]
}

export interface RunOptions {
  seed: number
  /** Generated requests of an operation, valid and invalid ones. */
  examples: number
  /** Operations without an end, and those that end others. */
  excluded: string[]
}

const version = '4.32.5'
const home = join(import.meta.dir, `../../../dist/schemathesis-${version}`)
const program = join(home, 'bin/schemathesis')

/** Installs Schemathesis into an environment of its own. Returns whether it can run. */
export async function installSchemathesis(
  run: (command: string[]) => Promise<boolean>,
): Promise<boolean> {
  if (await Bun.file(program).exists()) return true
  const pip = [join(home, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check']
  return (await run(['python3', '-m', 'venv', home])) && run([...pip, `schemathesis==${version}`])
}

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'positive_data_acceptance',
]

/** Errors other than these say nothing about the schema: a missing item, no credits, and so on. */
const accepted = [
  '2xx',
  '3xx',
  '401',
  '402',
  '403',
  '404',
  '408',
  '409',
  '426',
  '429',
  '451',
  '5xx',
]

/** Returns the configuration: the checks, and the values of each operation. */
function configOf(values: OperationValues[], seed: number, examples: number): string {
  const lines = [
    `seed = ${seed}`,
    'request-timeout = 30',
    'continue-on-failure = true',
    'max-stream-events = 5',
    '[generation]',
    `max-examples = ${examples}`,
    'no-shrink = true',
    'database = "none"',
    '[phases.coverage]',
    'unexpected-methods = []',
    '[checks]',
    // The declared 502, 503 and 504 depend on settings and upstreams.
    'not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "502", "503", "504"]',
    `positive_data_acceptance.expected-statuses = ${JSON.stringify(accepted)}`,
    'negative_data_rejection.expected-statuses = ["4xx", "5xx"]',
  ]
  for (const { operationId, key, path } of values) {
    lines.push('[[operations]]', `include-operation-id = ${JSON.stringify(operationId)}`)
    lines.push(`headers = { Authorization = ${JSON.stringify(`Bearer ${key}`)} }`)
    const named = Object.entries(path).map(
      ([name, value]) => `"path.${name}" = ${JSON.stringify(value)}`,
    )
    if (named.length > 0) lines.push(`parameters = { ${named.join(', ')} }`)
  }
  return lines.join('\n')
}

/** Sends the requests that Schemathesis derives from a document, and judges the responses. */
export async function runSchemathesis(
  documentUrl: string,
  values: OperationValues[],
  { seed, examples, excluded }: RunOptions,
): Promise<SchemathesisReport> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-schemathesis-'))
  try {
    const config = join(folder, 'schemathesis.toml')
    await Bun.write(config, configOf(values, seed, examples))
    const child = Bun.spawn(
      [
        program,
        '--config-file',
        config,
        'run',
        documentUrl,
        '--no-color',
        '--checks',
        checks.join(),
        '--phases',
        'coverage,fuzzing',
        '--report',
        'ndjson',
        '--report-dir',
        folder,
        ...excluded.flatMap((id) => ['--exclude-operation-id', id]),
      ],
      { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    )
    const [output] = await Promise.all([child.stdout.text(), child.exited])
    const name = readdirSync(folder).find((file) => file.endsWith('.ndjson'))
    if (name === undefined) throw new Error(`Schemathesis wrote no report:\n${output}`)
    return readReport(readFileSync(join(folder, name), 'utf8'), output)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readReport(ndjson: string, output: string): SchemathesisReport {
  const report: SchemathesisReport = { cases: 0, problems: [] }
  const seen = new Set<string>()
  let isFinished = false
  for (const line of ndjson.trim().split('\n')) {
    const event = recordOf(JSON.parse(line))
    isFinished ||= 'EngineFinished' in event
    const {
      label,
      cases,
      checks: found,
      interactions,
    } = recordOf(recordOf(event['ScenarioFinished'])['recorder'])
    for (const [id, results] of Object.entries(recordOf(found))) {
      report.cases += 1
      const { request, response } = recordOf(recordOf(interactions)[id])
      const { content } = recordOf(response)
      const given = recordOf(recordOf(cases)[id])
      const about = {
        label: String(label),
        violates: violationsOf(given),
        sent: recordOf(given['value'])['body'],
      }
      for (const result of itemsOf(results)) {
        const problem = problemOf(about, recordOf(result), textOf(content))
        if (problem === undefined || seen.has(problem)) continue
        seen.add(problem)
        report.problems.push(`${problem}\n  ${describe(recordOf(request))}`)
      }
    }
  }
  if (!isFinished) report.problems.push(`Schemathesis did not finish:\n${output}`)
  return report
}

/** Returns the parts of a request that violate the schema: `body`, `query`. */
const violationsOf = (given: unknown): string[] => {
  const meta = recordOf(recordOf(recordOf(given)['value'])['meta'])
  return Object.entries(recordOf(meta['components'])).flatMap(([part, component]) =>
    recordOf(component)['mode'] === 'negative' ? [part] : [],
  )
}

/** Returns the problem of a check that failed. Equal problems of several requests are equal. */
function problemOf(
  { label, violates, sent }: { label: string; violates: string[]; sent: unknown },
  { name, status, failure_info: info }: Record<string, unknown>,
  body: string,
): string | undefined {
  if (status === 'success' || status === 'skip') return undefined
  const { title, message } = recordOf(recordOf(info)['failure'])
  // A schema of OpenAPI 3.1 describes the text of a stream, not its events.
  if (String(title).startsWith('SSE event')) return undefined
  // The values for paths replace those that violate the schema.
  if (name === 'negative_data_rejection') {
    return !mayViolate(label) && violates.some((part) => part !== 'path')
      ? `${label}: ${String(title)}: ${violates.join()}`
      : undefined
  }
  if (name !== 'positive_data_acceptance') return `${label}: ${String(title)}: ${String(message)}`
  const error = errorOf(body)
  return isOutsideSchema({ operation: label, message: error, body: sent })
    ? undefined
    : `${label}: ${String(title)}: ${error}`
}

/** Returns the message of an error of either API. */
function errorOf(body: string): string {
  const { error, reasons } = parseRecord(body) ?? {}
  const { message = error } = recordOf(error)
  return [message, ...itemsOf(reasons)].join(' ')
}

function textOf(content: unknown): string {
  const { $base64: encoded } = recordOf(content)
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString() : ''
}

function describe({ method, uri, body, headers }: Record<string, unknown>): string {
  const extra = isRecord(headers) ? JSON.stringify({ ...headers, Authorization: undefined }) : ''
  return JSON.stringify(
    `${String(method)} ${String(uri)} ${textOf(body).slice(0, 600)} ${extra.slice(0, 200)}`,
  )
}
