/**
 * Writes the generated files of sdk/ from the OpenAPI documents. With `--check` it writes nothing,
 * and exits 1 when a file is out of date.
 */
import { join } from 'node:path'

import { version } from '../package.json'
// A clean checkout has no public/dist, which the server of the documents reads.
import '../src/testing/preload.ts'
import { startTestServer } from '../src/testing/fixtures/test-server.ts'
import { getDocument, getGatewayDocument } from '../src/testing/openapi/document.ts'
import { readOperations } from './sdk/document.ts'
import { writePython } from './sdk/python.ts'
import { writeTypescript } from './sdk/typescript.ts'

const root = join(import.meta.dir, '..')

/** Returns the generated files by their paths. */
export async function sdkFiles(): Promise<Record<string, string>> {
  const server = await startTestServer({ DEMO_MODELS: 'on' })
  const [agent, gateway] = await Promise.all([getDocument(server), getGatewayDocument(server)])
  await server.close()
  const apis = [
    { type: 'AgentApi', table: 'agentApi', file: 'agent-api', document: agent },
    { type: 'Gateway', table: 'gateway', file: 'gateway', document: gateway },
  ]
  const files: Record<string, string> = {}
  for (const { file, document, ...api } of apis) {
    const operations = readOperations(document)
    const text = await writeTypescript(api, operations, document.components.schemas)
    files[`sdk/typescript/src/${file}.ts`] = text
    const types = `${file.replace('-api', '')}_types`
    const python = writePython({ type: api.type, types }, operations, document.components.schemas)
    files[`sdk/python/src/berth_sdk/${types}.py`] = python.types
    files[`sdk/python/src/berth_sdk/${file.replace('-', '_')}.py`] = python.api
  }
  files['sdk/python/src/berth_sdk/version.py'] = `VERSION = "${version}"\n`
  const manifest = await Bun.file(join(root, 'sdk/typescript/package.json')).json()
  files['sdk/typescript/package.json'] =
    `${JSON.stringify({ ...manifest, version }, undefined, 2)}\n`
  return files
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await sdkFiles())) {
    const file = Bun.file(join(root, path))
    if (Bun.argv[2] !== '--check') await file.write(text)
    else if ((await file.text().catch(() => '')) !== text) {
      console.error(`${path} is out of date. Run: bun scripts/sdk.ts`)
      process.exitCode = 1
    }
  }
  process.exit()
}
